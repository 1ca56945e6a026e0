// How a session is stopped: the run under way, everything before another record is entered, and the session itself.

import type { SessionInternals } from "./session-internals.js";

/** Stops the run and any summary that is being written, and waits for both. Queued messages stay queued. */
export async function abortSession(session: SessionInternals): Promise<void> {
  const { driver, intake, questions } = session;
  session.abortCount++;
  questions.drop();
  const { begun } = driver;
  const refused = intake.giveUp();
  await stopWork(session);
  await refused;
  // One of those has begun, and was stopped as it did; one that came later is not ours to stop.
  if (driver.begun > begun && driver.signal?.aborted) await driver.stop();
}

/** What an abort may cancel before its turn comes: a compaction, the wait before a retry, the wait for extensions. */
export function cancelWaits({ intake, questions, driver, compaction, retry }: SessionInternals): void {
  void intake.giveUp(); // never rejects; the abort itself waits for it
  questions.drop();
  driver.giveUp();
  compaction.abort();
  retry.cancel("abort");
}

/** Nothing runs, and no prompt is on its way, not even one that an extension sent meanwhile. */
export async function waitForIdle({ driver, intake }: SessionInternals): Promise<void> {
  while (driver.isStreaming || intake.isOpen) {
    await (driver.isStreaming ? driver.waitForIdle() : intake.whenOver());
    if (driver.isEnding) return; // nothing runs any more, whatever is still sent
  }
}

/**
 * Nothing is under way when it resolves, and nothing was begun in the moment before: a tool that must not be cut
 * short has written its result where it began, and so has a decision about what is pending.
 */
export async function becomeIdle(session: SessionInternals): Promise<void> {
  const { driver, compaction, pending } = session;
  const isRunning = () => driver.isStreaming || compaction.isCompacting;
  while (isRunning() || pending.isDeciding) await (isRunning() ? stopWork(session) : pending.decided());
}

async function stopWork({ intake, compaction, driver }: SessionInternals): Promise<void> {
  void intake.giveUp(); // never rejects, and a prompt that is not accepted yet holds up nothing
  compaction.abort();
  await driver.stop();
  await compaction.waitForIdle();
}

/** Before a record is left: what is pending stays with it, or ends. */
export async function leavePending({ restored, pending }: SessionInternals, reason: string): Promise<void> {
  await restored.done;
  await pending.leave(reason);
}

/** The session is about to end: tools that ignore their signal, and extensions, get less time than usual. */
export function beginShutdown({ driver, pending, intake, deps }: SessionInternals, modulesMs: number): void {
  driver.beginShutdown();
  pending.beginShutdown();
  intake.close();
  deps.extensions?.beginShutdown(modulesMs);
}

/** After the operation that is under way, if one is. */
export function disposeSession(session: SessionInternals, modulesMs?: number): Promise<void> {
  const { driver, intake, toolChoice, bash, current, pending, deps, events, todos, detached } = session;
  driver.close();
  intake.close();
  toolChoice.clear();
  bash.abort();
  return current.exclusively(async () => {
    session.isOver = true;
    await abortSession(session);
    await leavePending(session, "Session ended before the preview was resolved.");
    pending.dispose();
    await deps.release?.(modulesMs);
    bash.flush();
    await events.drained();
    todos.dispose();
    await detached.closeAll();
    await current.record.close();
  });
}
