// What a session asks its user, in words: whether a call may run, a file may be touched, a change may be written.
// Anything but a clear yes is a no. Everything that a model chose is shown whole and visibly.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import { writtenOut } from "../base/written-out.js";
import { createLiveUI, type ToolUI } from "../extensions/api/custom-tool-ui.js";
import type { Permit, PermitQuestion } from "../files/workspace.js";
import type { ApplyAnswer } from "../pending/decide/decision.js";
import type { Plan } from "../plans/plan.js";
import type { AgentSessionDeps } from "../session/agent-session-deps.js";
import type { ApprovalRequest } from "../session/approval.js";
import type { DialogOptions, Dialogs } from "../tools/tool.js";
import { callLines } from "./access/approval-policy.js";
import type { CallAnswer, CallQuestion } from "./access/call-approval.js";
import { type EscalationQuestion, escalationLines, escalationTitle } from "./access/escalation.js";
import type { ApplyQuestion } from "./review/apply-questions.js";

/** What a front end or a host can do for its user, as far as it can. */
export type SessionUI = Partial<ToolUI>;

/** How the user is asked. Where a member is absent, the question goes through `ui`, as far as it can. */
export interface QuestionOptions {
  /** How the user is asked: by the `ask` tool, by extensions, and where only the user may decide; default: not at all. */
  ui?: SessionUI;
  /** Asks the user about what the model wants to apply, instead of a question of `ui`. Undefined: cannot be asked. */
  confirmApply?: (question: ApplyQuestion, signal: AbortSignal | undefined) => Promise<ApplyAnswer | undefined>;
  /** Asked where only the user may decide about a file; default: the answer is no. */
  permit?: Permit;
  /** Shows the user a call that waits for an answer; default: a yes or no through `ui`. */
  askCall?: (question: CallQuestion) => Promise<CallAnswer>;
  /** Shows the user a command that wants to leave the sandbox; only `true` is a yes. Default: through `ui`. */
  askEscalation?: (question: EscalationQuestion) => Promise<boolean>;
  /**
   * Asks the user about a host that a confined command wants to reach: `once`, `session`, `always` or `no`; silence is no.
   * Default: commands reach no host that `bash.hosts` does not list.
   */
  askHost?: (host: string, signal: AbortSignal) => Promise<"once" | "session" | "always" | "no">;
}

/** Everything that a session asks its user. What is absent cannot be asked. */
export interface UserQuestions extends Omit<QuestionOptions, "ui" | "confirmApply"> {
  readonly dialogs?: Dialogs;
  /** Whether one call may run, of a host that can only say yes or no. */
  readonly confirmCall?: (request: ApprovalRequest) => Promise<boolean>;
  /** The same as a choice, in the words of hosts of omp. */
  readonly chooseCall?: (request: ApprovalRequest) => Promise<boolean>;
  readonly confirmApply?: AgentSessionDeps["confirm"];
  readonly confirmProtected?: AgentSessionDeps["confirmProtected"];
}

/** `signal` is that of the session's work: stopping it also cancels a question about a file. */
export function createUserQuestions(
  { ui: given, permit, askCall, askEscalation, askHost, confirmApply }: QuestionOptions,
  deps: { readonly clock: Clock; readonly log: Log; signal(): AbortSignal | undefined },
): UserQuestions {
  const live = createLiveUI(deps);
  live.set(given, true);
  const ui = given && live.ui;
  return {
    permit: permit ?? (ui && permitBy(ui, deps.signal)),
    dialogs: ui && dialogsOf(ui),
    askCall,
    confirmCall: ui && callApprovalBy(ui),
    chooseCall: ui && callChoiceBy(ui),
    askEscalation: askEscalation ?? (ui && escalationBy(ui)),
    askHost,
    confirmApply: confirmApply
      ? ({ action: { id, revision } }, signal) => confirmApply({ id, revision }, signal)
      : ui && applyConfirmationBy(ui),
    confirmProtected: ui && protectedConfirmationBy(ui),
  };
}

/** For the tools that ask the user on behalf of the model. */
function dialogsOf(ui: ToolUI): Dialogs {
  return {
    select: (title, options, extra) => ui.select(title, options, asExtra(extra)),
    input: (title, placeholder, extra) => ui.input(title, placeholder, asExtra(extra)),
  };
}

function asExtra({ timeoutMs, ...extra }: DialogOptions = {}) {
  return { ...extra, timeout: timeoutMs };
}

export function callApprovalBy(ui: ToolUI): (request: ApprovalRequest) => Promise<boolean> {
  return ({ tool, args, signal }) =>
    ui.confirm(`Run ${writtenOut(tool.name)}?`, cut(callLines(tool, args).join("\n")), { signal });
}

function callChoiceBy(ui: ToolUI): (request: ApprovalRequest) => Promise<boolean> {
  return async ({ tool, args, signal }) => {
    const title = cut([`Allow tool: ${writtenOut(tool.name)}`, ...callLines(tool, args)].join("\n"));
    return (await ui.select(title, ["Approve", "Deny"], { signal })) === "Approve";
  };
}

/** Whether one command may run outside the sandbox. */
function escalationBy(ui: ToolUI): (question: EscalationQuestion) => Promise<boolean> {
  return (question) =>
    ui.confirm(escalationTitle, cut(escalationLines(question).join("\n")), { signal: question.signal });
}

const reasons: Record<PermitQuestion["reason"], string> = {
  outside_roots: "It lies outside of the project.",
  protected: "It is protected: it decides what galley or other programs do here.",
  secret: "It may hold secrets.",
};

/** Whether one file may be read or written. The signal cancels the question. */
export function permitBy(ui: ToolUI, signal: () => AbortSignal | undefined): Permit {
  return ({ intent, displayPath, reason }) => {
    const path = writtenOut(displayPath);
    const title = intent === "read" ? `Let the agent read ${path}?` : `Let the agent change ${path}?`;
    return ui.confirm(title, reasons[reason], { signal: signal() });
  };
}

/** Whether an apply may change what decides about programs. Every path is shown. */
function protectedConfirmationBy(ui: ToolUI): NonNullable<AgentSessionDeps["confirmProtected"]> {
  return async ({ label, files }, signal) => {
    const what = files.length === 1 ? "a protected path" : `${files.length} protected paths`;
    const lines = [`Part of: ${writtenOut(label)}`, ...files.map(writtenOut), reasons.protected];
    return ui.confirm(`Change ${what}?`, cut(lines.join("\n")), { signal });
  };
}

const maxShownLength = 64 * 1024;

/** Whether what the model wants to apply may be written, with all that would change. */
export function applyConfirmationBy(ui: ToolUI): NonNullable<AgentSessionDeps["confirm"]> {
  return async ({ action: { label, sourceToolName, preview }, work }, signal) => {
    const own = preview?.diff ?? preview?.text ?? `Proposed by ${sourceToolName}.`;
    const text = work.kind === "plan" ? await planText(work.plan) : cut(codeLines(own));
    return ui.confirm(writtenOut(label), text, { signal });
  };
}

async function planText({ changes }: Plan): Promise<string> {
  const { diffOf } = await import("../plans/diff/plan-diff.js");
  let text = "";
  for (const [index, change] of changes.entries()) {
    if (text.length > maxShownLength) return `${text}⟨${changes.length - index} more files⟩`;
    text += codeLines((await diffOf(change)).diff(maxShownLength));
  }
  return text;
}

function cut(text: string): string {
  const rest = text.length - maxShownLength;
  return rest <= 0 ? text : `${text.slice(0, maxShownLength)}\n⟨${rest} more characters⟩`;
}

/** Code is indented; anywhere else a long run of spaces hides something. */
function codeLines(text: string): string {
  const shown = (line: string) => {
    const indent = line.match(/^[-+ ]?[ \t]{0,200}/)?.[0] ?? "";
    return indent + writtenOut(line.slice(indent.length));
  };
  return text.split("\n").map(shown).join("\n");
}
