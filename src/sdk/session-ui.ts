// What a session asks its user, in words: whether a call may run, a file may be touched, a change may be written.
// Anything but a clear yes is a no. Everything that a model chose is shown whole and visibly.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import { writtenOut } from "../base/written-out.js";
import { createLiveUI, type ToolUI } from "../extensions/api/custom-tool-ui.js";
import type { Permit, PermitQuestion } from "../files/workspace.js";
import type { Plan } from "../plans/plan.js";
import type { AgentSessionDeps } from "../session/agent-session-deps.js";
import type { ApprovalRequest } from "../session/approval.js";
import type { AnyTool, DialogOptions, Dialogs } from "../tools/tool.js";
import { type EscalationQuestion, escalationLines, escalationTitle } from "./access/escalation.js";

/** What a front end or a host can do for its user, as far as it can. */
export type SessionUI = Partial<ToolUI>;

/** Everything that a session asks its user, through one live UI. */
export interface UserQuestions {
  readonly permit: Permit;
  readonly dialogs: Dialogs;
  readonly approveCall: (request: ApprovalRequest) => Promise<boolean>;
  /** The same as a choice, in the words of hosts of omp. */
  readonly chooseCall: (request: ApprovalRequest) => Promise<boolean>;
  readonly escalate: (question: EscalationQuestion) => Promise<boolean>;
  readonly confirmApply: NonNullable<AgentSessionDeps["confirm"]>;
  readonly confirmProtected: NonNullable<AgentSessionDeps["confirmProtected"]>;
}

/** Undefined where no user can be asked. */
export function createUserQuestions(
  ui: SessionUI | undefined,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    /** Of the session's work: stopping it also cancels a question about a file. */
    signal(): AbortSignal | undefined;
  },
): UserQuestions | undefined {
  if (!ui) return undefined;
  const live = createLiveUI(deps);
  live.set(ui, true);
  return {
    permit: permitBy(live.ui, deps.signal),
    dialogs: dialogsOf(live.ui),
    approveCall: callApprovalBy(live.ui),
    chooseCall: callChoiceBy(live.ui),
    escalate: escalationBy(live.ui),
    confirmApply: applyConfirmationBy(live.ui),
    confirmProtected: protectedConfirmationBy(live.ui),
  };
}

/** For the tools that ask the user on behalf of the model. */
export function dialogsOf(ui: ToolUI): Dialogs {
  return {
    select: (title, options, extra) => ui.select(title, options, asExtra(extra)),
    input: (title, placeholder, extra) => ui.input(title, placeholder, asExtra(extra)),
  };
}

function asExtra({ timeoutMs, ...extra }: DialogOptions = {}) {
  return { ...extra, timeout: timeoutMs };
}

/** Whether one call may run. */
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
export function escalationBy(ui: ToolUI): (question: EscalationQuestion) => Promise<boolean> {
  return (question) =>
    ui.confirm(escalationTitle, cut(escalationLines(question).join("\n")), { signal: question.signal });
}

/** The whole call for a user who decides about it. */
export function callLines(tool: AnyTool, args: Record<string, unknown>): string[] {
  return tool.approvalDetails?.(args)?.map(writtenOut) ?? argumentLines(args);
}

/** One argument per line; a text of several lines is indented, so that it cannot look like another argument. */
function argumentLines(args: Record<string, unknown>): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const lines = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).split("\n").map(writtenOut);
    return lines.length === 1
      ? [`${writtenOut(name)}: ${lines[0]}`]
      : [`${writtenOut(name)}:`, ...lines.map((line) => `  | ${line}`)];
  });
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
export function protectedConfirmationBy(ui: ToolUI): NonNullable<AgentSessionDeps["confirmProtected"]> {
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
