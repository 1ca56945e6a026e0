// The work of a one-shot run: one prompt after the other, up to the first that fails; then, with `--yes`, what is still
// pending.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import type { AgentSession } from "../../sdk/index.js";
import { plannerUnderstood } from "../../sdk/planner-understood.js";
import type { Prompt } from "../prompts.js";
import { failureOf, type Limit, type Outcome } from "./run-outcome.js";
import type { Stop } from "./stop.js";

export interface RunDeps {
  readonly session: AgentSession;
  readonly stop: Stop;
  /** Before a custom tool's own apply, which may write anything. */
  beforeUntold(): Promise<void>;
}

/** Undefined: all went well. */
export async function runPrompts(deps: RunDeps, prompts: readonly Prompt[]): Promise<Outcome | undefined> {
  const { session, stop } = deps;
  let reply: AssistantMessage | undefined;
  let exceeded: Limit | undefined;
  session.subscribe((event) => {
    if (event.type === "message_end" && event.message.role === "assistant") reply = event.message;
    if (event.type === "budget_exceeded") exceeded = { kind: event.kind, limit: event.limit, used: event.used };
  });
  let broken: string | undefined;
  let command: string | undefined;
  session.onReport((report) => {
    if (report.type !== "extension_error" || report.event !== "command") return;
    if (report.extensionPath.replace(/^(?:custom-)?command:/, "") === command) broken = report.error;
  });
  for (const [index, { text, images }] of prompts.entries()) {
    await session.waitForIdle(); // an extension may have started a run
    if (stop.code !== undefined) return { reason: "failed" };
    reply = undefined; // only the last prompt's reply counts
    command = /^\/(\S+)/.exec(text)?.[1];
    // The prompts of one command line are one run to the user who undoes it. If an extension begins a run meanwhile, wait.
    await session.prompt(text, { images, streamingBehavior: "followUp", isSameRun: index > 0 });
    await session.waitForIdle(); // for runs that a command, or an extension, has started
    if (stop.code !== undefined) return { reason: "failed" };
    if (broken !== undefined) return { reason: "failed", message: `/${command} failed: ${broken}` };
    const failure = failureOf(session, { reply, exceeded });
    if (failure) return failure;
    // Its answer is what it does understand.
    if (reply && !plannerUnderstood(reply, session.messages)) return { reason: "usage" };
  }
  return undefined;
}

/** `--yes`: everything still pending is applied, up to the first that fails, and not after a signal. */
export async function applyRest({ session, stop, beforeUntold }: RunDeps): Promise<Outcome | undefined> {
  const told: string[] = [];
  const left = await session.getPendingActions();
  if (left.some(({ kind }) => kind === "closure")) await beforeUntold();
  for (const { id, label } of left) {
    if (stop.code !== undefined) return { reason: "failed" };
    if (!session.pendingActions.some((action) => action.id === id)) continue; // it was applied with another one
    try {
      // All of them were named, so what one depends on may be applied with it.
      const request = { action: "apply", reason: "--yes", by: "user", pendingId: id, withDeps: true } as const;
      await session.resolvePendingAction(request);
      told.push(`${id} applied: ${label}`);
    } catch (error) {
      const isDenied = GalleyError.is(error, "file_refused") || GalleyError.is(error, "protected");
      const reason = isDenied ? "denied" : "failed";
      return { reason, message: [...told, `${id} failed: ${label} – ${messageOf(error)}`].join("\n") };
    }
  }
  return undefined;
}
