// stdout of a one-shot run: the answer as text, every event as a line, or one JSON document.

import type { Writable } from "node:stream";
import { encodeFrame } from "../../base/ndjson.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { TextMask } from "../../base/text-mask.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import { encodeSafely, encodeUpdate } from "../../rpc/encode.js";
import type { AgentSession } from "../../sdk/index.js";
import type { RunReport } from "../../sdk/run-report/watch-run.js";
import type { ExitReason } from "../exit-codes.js";
import type { Outcome } from "./run-outcome.js";
import type { Stop } from "./stop.js";

/** Every reply repeats nothing: a reader adds the deltas up, or waits for `message_end`. */
const emptyMessage = '{"role":"assistant","content":[]}';

/** `hasSnapshots`: every update carries the whole message so far, which is quadratic. */
export function writeEvents(
  session: AgentSession,
  { output, stop, hasSnapshots }: { output: Writable; stop: Stop; hasSnapshots: boolean },
): void {
  const mask = session.secrets;
  output.write(encodeFrame(session.sessionManager.header));
  const encode = (event: AgentSessionEvent) =>
    event.type === "message_update" && !hasSnapshots
      ? encodeUpdate(event, undefined, { stub: emptyMessage, mask })
      : encodeSafely(event, mask);
  session.subscribe((event) => {
    if (!stop.hasReader || output.write(encode(event)) || event.type !== "message_update") return;
    return hasRoom(output); // a slow reader slows the model
  });
}

/** Also resolves when the reader has gone. */
function hasRoom(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      output.off("drain", go).off("error", go);
      resolve();
    };
    output.on("drain", go).on("error", go);
  });
}

/** Resolves when it is out, or cannot be. */
export function writeAnswer(output: Writable, text: string): Promise<void> {
  return new Promise((resolve) => output.write(`${text}\n`, () => resolve()));
}

/** A run whose answer is one all the same: cut off, or what the planner does understand. */
export function hasAnswer(reason: ExitReason): boolean {
  return ["done", "pending", "limit", "usage"].includes(reason);
}

/** The last assistant message with text, whatever came after it. */
export function answerOf(session: AgentSession): string {
  for (const message of session.messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (text.trim()) return session.secrets.mask(sanitizeForTerminal(text.trim()));
  }
  return "";
}

export interface Ended {
  readonly outcome: Outcome;
  readonly code: number;
  readonly answer: string;
  readonly sessionId: string | undefined;
  readonly report: RunReport | undefined;
  /** What may not be told. */
  readonly secrets: TextMask | undefined;
}

/** The last line of JSON mode. */
export function exitLine({ outcome, code, secrets }: Ended): string {
  return encodeFrame({ type: "exit", code, ...outcome, pending: outcome.pending ?? [] }, secrets);
}

/** The same as all there is, with the names that scripts for other programs look for. */
export function resultDocument({ outcome, code, answer, sessionId, report, secrets }: Ended): string {
  const document = {
    type: "result",
    is_error: code !== 0,
    result: answer,
    session_id: sessionId,
    ...(report ? { num_turns: report.turns, total_tokens: report.tokens, total_cost_usd: report.cost } : {}),
    code,
    ...outcome,
    pending: outcome.pending ?? [],
  };
  return encodeFrame(document, secrets);
}
