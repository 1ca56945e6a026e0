// One prompt: intercepted by extensions, accepted, put on record, run, and continued as long as there is a reason to. A
// prompt that cannot be accepted is refused before anything is changed, so no message is lost on the way.

import { AbortRace } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";
import type { RunEnd } from "../loop/run.js";
import { runPrompt } from "../loop/run-prompt.js";
import type { RunMark } from "../plans/change-writer.js";
import type { ImageContent } from "../protocol/content.js";
import type { AgentMessage, CustomMessage, UserMessage } from "../protocol/messages.js";
import { capabilitiesOf, type ProviderModel, type ToolChoice } from "../provider/provider.js";
import { announced, carryOut, decideContinuation, type Verdict } from "./continuation.js";
import { createRun } from "./create-run.js";
import { askExtensionsBeforeRun, beginEagerTodos, expandTemplate, withToolChoice } from "./prompt-additions.js";
import { abortedOutcome, outcomeOf } from "./prompt-outcome.js";
import { type ActivePrompt, busyText } from "./run-driver.js";
import type { PromptSource } from "./session-extensions.js";
import { continuationOf, type SessionInternals } from "./session-internals.js";
import { entryOf, userMessage } from "./session-messages.js";

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** What to do when a run is active; without it such a prompt is refused. */
  streamingBehavior?: "steer" | "followUp";
  /** For the first model call of the run that this prompt starts; a prompt that is queued has none. */
  toolChoice?: ToolChoice;
  /** Not typed by the user: a program speaks for its user. */
  synthetic?: boolean;
  /** Who sent it, for extensions that look at a prompt first. */
  source?: PromptSource;
  /** Called with the message that it becomes, before it is accepted: for a run of its own, or to wait in a queue. */
  onPlaced?: (message: UserMessage, place: "run" | "queue") => void;
  /** A `/name` is replaced by the template or the skill it stands for; default: where the user or a host says it. */
  expandPromptTemplates?: boolean;
  /** It goes on with the run of the prompt before it: their changes are undone together. */
  isSameRun?: boolean;
  /** Called once the prompt is accepted and on record, before the first event it causes. */
  onAccepted?: () => void;
}

/** Extensions see it first; without any, the prompt has begun when this returns. Resolves when the session is idle. */
export async function submitPrompt(session: SessionInternals, text: string, options: PromptOptions): Promise<void> {
  const { extensions } = session.deps;
  const { images = [], synthetic, source, onAccepted = () => {} } = options;
  const { abortCount } = session;
  session.driver.checkOpen();
  if (!extensions?.interceptsPrompts || synthetic) return begin(session, text, { ...options, abortCount });
  const intercepted = await session.intake.next((signal, over) =>
    extensions.intercept(
      { text, images },
      {
        signal,
        onAccepted() {
          over();
          onAccepted();
        },
        ...(source ? { source } : {}),
      },
    ),
  );
  if (intercepted) await begin(session, intercepted.text, { ...options, images: intercepted.images, abortCount });
}

/** `abortCount`: as it was when the prompt came. */
async function begin(
  session: SessionInternals,
  asked: string,
  options: PromptOptions & { abortCount: number },
): Promise<void> {
  const { images = [], streamingBehavior, synthetic = false } = options;
  const { deps, driver, queues } = session;
  const isTyped = !synthetic && options.source !== "extension";
  const named = (options.expandPromptTemplates ?? isTyped) ? expandTemplate(session, asked) : asked;
  const text = typeof named === "string" ? named : await named;
  const files = isTyped && !driver.isBusy && text.includes("@") ? await deps.readMentions?.(text) : [];
  const message = userMessage(text, { images, isSynthetic: synthetic, now: deps.clock.now() });
  const onAccepted = () => options.onAccepted?.();
  if (!driver.isBusy) {
    const model = session.models.usable();
    options.onPlaced?.(message, "run");
    const riders: AgentMessage[] = [];
    if (files && files.length > 0) riders.push({ role: "fileMention", files, timestamp: deps.clock.now() });
    // A caller that chose the first tool, or speaks for a program, wants no plan before it.
    const isExcepted = synthetic || options.toolChoice !== undefined;
    const endEager = isExcepted ? undefined : beginEagerTodos(session, { text, model, riders });
    const extras = deps.extensions?.interceptsPrompts ? askExtensionsBeforeRun(session, { text, images }) : undefined;
    const isStopped = session.abortCount !== options.abortCount;
    const { isSameRun = false } = options;
    const start = {
      model,
      message,
      riders,
      isStopped,
      isSameRun,
      onAccepted,
      ...(extras ? { beforeRun: extras.ask } : {}),
    };
    return withToolChoice(session, options.toolChoice, () => startPrompt(session, start)).finally(() => {
      endEager?.();
      extras?.end();
    });
  }
  if (!streamingBehavior) throw new GalleyError("busy", busyText);
  options.onPlaced?.(message, "queue");
  onAccepted();
  if (streamingBehavior === "steer") queues.steer(message);
  else queues.queueFollowUp(message);
}

export interface PromptStart {
  readonly model: ProviderModel;
  readonly message: UserMessage | CustomMessage;
  /** Extra messages for its own run, so that nothing is left for the next one if it is stopped before. */
  readonly riders?: readonly AgentMessage[];
  /** Asked right before its run for further messages. After the signal the answer is not waited for. */
  beforeRun?(signal: AbortSignal): Promise<readonly AgentMessage[]>;
  /** An abort came while it was on its way: it is accepted, and does not run. */
  readonly isStopped?: boolean;
  /** Its changes belong to the run before it. */
  readonly isSameRun?: boolean;
  onAccepted(): void;
}

/** Resolves when the session is idle again. */
export function startPrompt(session: SessionInternals, start: PromptStart): Promise<void> {
  return session.driver.begin((active) => drive(session, active, start), { isStopped: start.isStopped ?? false });
}

async function drive(session: SessionInternals, active: ActivePrompt, start: PromptStart): Promise<void> {
  const { driver, compaction, fallback, models, pending, current } = session;
  const { signal } = active.abort;
  driver.beginRun(active, accept(session, start), start);
  if (active.previous) await active.previous; // it is accepted, but the last one closes before this one runs
  compaction.startPrompt();
  let model = fallback.startPrompt() ?? start.model;
  const search = models.discover(signal);
  if (search) {
    await search;
    model = models.active ?? model;
  }
  driver.lastOutcome = abortedOutcome; // until a run says otherwise
  driver.wasDenied = false;
  await prepare(session, signal);
  if (!signal.aborted && compaction.decideThreshold()) await compaction.compactAtThreshold(signal);
  if (signal.aborted) return;
  let said: readonly AgentMessage[] = [];
  if (start.beforeRun) {
    const answer = await new AbortRace(signal).next(start.beforeRun(signal));
    if (answer === "aborted" || signal.aborted) return;
    said = answer;
    model = models.active ?? model; // an extension may have chosen another
  }
  const reminders = session.queues.takeNextTurn().map((item) => item.message);
  let messages: AgentMessage[] | undefined = [start.message, ...reminders, ...(start.riders ?? []), ...said];
  for (; messages; model = models.active ?? model)
    messages = await runOnce(session, active, { start, model, messages });
  pending.runEnded();
  await pending.flush();
  await current.record.sync();
}

/**
 * A prompt is safe on record when its host is told that it was accepted, and no event comes before that. The model may
 * be asked meanwhile: the disk and the network need not wait for each other.
 */
function accept({ current, models, events }: SessionInternals, { message, onAccepted }: PromptStart): RunMark {
  const { record } = current;
  models.recordStart();
  const { id } = record.append(entryOf(message));
  events.hold(record.sync().then(onAccepted));
  return { id: `${record.sessionId}:${id}`, at: message.timestamp };
}

/** Loads what is only needed now. */
async function prepare(session: SessionInternals, signal: AbortSignal): Promise<void> {
  const { restored, bash, todos, rules } = session;
  const { extensions, library } = session.deps;
  session.wasForced = false;
  const { active: model } = session.models;
  const learning = model && capabilitiesOf(model).isLanguageModel ? session.deps.learnSurroundings?.() : undefined;
  await restored.done;
  restored.tellNews(); // a host that has not subscribed by now need not be told
  if (extensions && (await new AbortRace(signal).next(extensions.ready())) === "aborted") return;
  await library?.ready();
  bash.flush();
  todos.promptStart();
  await rules.promptStart();
  if (learning) await new AbortRace(signal).next(learning);
}

/** One run and what follows from it. Returns the messages that the next run begins with; undefined: there is none. */
async function runOnce(
  session: SessionInternals,
  active: ActivePrompt,
  { start, model, messages }: { start: PromptStart; model: ProviderModel; messages: AgentMessage[] },
): Promise<AgentMessage[] | undefined> {
  const { driver, current, pending, events } = session;
  const { signal } = active.abort;
  let verdict: Verdict = {};
  const decideEnd = (end: RunEnd) => {
    verdict = decideContinuation(continuationOf(session), { ...end, model, isAborted: signal.aborted });
    active.isClosing = !("next" in verdict);
    driver.lastOutcome = outcomeOf(end);
    return announced(verdict);
  };
  await current.loadImages();
  const begin = [...messages, ...pending.runStart()];
  const end = await runPrompt(createRun(session, { model, signal, decideEnd, recorded: start.message }), begin);
  await events.drained();
  const next = await carryOut(continuationOf(session), { verdict, end, signal });
  const isCutShort = "next" in verdict && !next && (signal.aborted || active.isGivenUp);
  if (isCutShort) driver.lastOutcome = abortedOutcome;
  return next;
}
