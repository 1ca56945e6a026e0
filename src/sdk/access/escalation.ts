// Whether a command may run outside the sandbox: always a question of its own, with the whole command and the model's
// words. A yes is for this call only; no answer, a broken one and a failed question are no.

import { writtenOut } from "../../base/written-out.js";
import type { ApprovalRequest } from "../../session/approval.js";

export const escalationRefusedText = "Refused: the user did not allow this command outside the sandbox.";
export const stagedEscalationText =
  "Refused: in stage a command outside the sandbox would bypass the view. Run it without escalate, or ask the user to change the access mode.";

/** What the user is shown. */
export interface EscalationQuestion {
  readonly toolCallId: string;
  /** Whole. */
  readonly command: string;
  readonly cwd: string;
  /** The model's words. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

export const escalationTitle = "Run outside the sandbox?";

/** The whole command, where it would run, and the model's words, marked as such. */
export function escalationLines({ command, cwd, reason }: EscalationQuestion): string[] {
  const [first = "", ...more] = reason.split("\n").map(writtenOut);
  return [
    ...command.split("\n").map((line) => `  ${writtenOut(line)}`),
    `  in ${writtenOut(cwd)}`,
    `The model says: ${first}`,
    ...more.map((line) => `  | ${line}`),
  ];
}

/** The model's wish, if the call has one. */
export function escalationOf(
  { call, tool, args, signal }: Pick<ApprovalRequest, "call" | "tool" | "args" | "signal">,
  cwd: string,
): EscalationQuestion | undefined {
  const { command, escalate, cwd: asked } = args;
  if (!tool.isCommand || typeof escalate !== "string" || typeof command !== "string") return undefined;
  return { toolCallId: call.id, command, cwd: typeof asked === "string" ? asked : cwd, reason: escalate, signal };
}

/** Only true is a yes. */
export async function isEscalationAllowed(
  question: EscalationQuestion,
  ask: ((question: EscalationQuestion) => Promise<unknown>) | undefined,
): Promise<boolean> {
  try {
    return (await ask?.(question)) === true && !question.signal.aborted;
  } catch {
    return false; // a question that failed was not answered with yes
  }
}
