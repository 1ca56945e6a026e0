// The policy for every call of a session: the working mode first, then the caller's own policy, then the user where the table
// of approvals says so. What is not a clear yes is a no, and the model reads why.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { maskDeep, type TextMask } from "../../base/text-mask.js";
import type { Settings } from "../../config/settings/settings.js";
import { type ApprovalPolicy, type ApprovalRequest, approveAll } from "../../session/approval.js";
import type { ApprovalTier } from "../../tools/tool.js";
import { noStageText, type Placement, type SessionSandbox } from "../sandbox/session-sandbox.js";
import type { SessionAccess } from "./access-mode.js";
import { allowLine, callLines, isAsked, kindOf, refusedByUser } from "./approval-policy.js";
import {
  type EscalationQuestion,
  escalationOf,
  escalationRefusedText,
  isEscalationAllowed,
  stagedEscalationText,
} from "./escalation.js";

/** What a front end shows of a call that waits for an answer. */
export interface CallQuestion extends Pick<EscalationQuestion, "toolCallId" | "cwd" | "signal"> {
  readonly tool: string;
  readonly tier: ApprovalTier;
  readonly isConfined: boolean;
  /** The whole call, with everything invisible written out. */
  readonly lines: readonly string[];
}

export type CallAnswer =
  | { readonly kind: "once" | "session" | "always" }
  | { readonly kind: "no"; readonly reason?: string };

export interface CallApprovalDeps {
  readonly access: SessionAccess;
  readonly sandbox: Pick<SessionSandbox, "place" | "allowOutside">;
  readonly settings: Settings;
  readonly allowExec: boolean;
  /** Asked about whatever the settings say. */
  readonly askTiers?: readonly ApprovalTier[] | undefined;
  readonly root: string;
  readonly cwd: string;
  readonly log: Log;
  /** Of everything that is shown of a call. */
  readonly mask: TextMask["mask"];
  readonly user: {
    /** Of a front end that can show the whole question. */
    readonly askCall?: ((question: CallQuestion) => Promise<CallAnswer>) | undefined;
    /** Of a host that can only say yes or no. */
    readonly confirmCall?: ((request: ApprovalRequest) => Promise<boolean>) | undefined;
    readonly askEscalation?: ((question: EscalationQuestion) => Promise<boolean>) | undefined;
  };
  /** Adds a line to `approval.allow` in the user's file. */
  allowForGood(line: string): Promise<void>;
}

export function createCallPolicy(policy: ApprovalPolicy = approveAll, deps: CallApprovalDeps): ApprovalPolicy {
  const { access, sandbox, settings, user } = deps;
  const allowed = new Set<string>();
  return async (request) => {
    const { tool, args, tier } = request;
    const mode = access.approval;
    const placement = tool.isCommand ? await sandbox.place({ stage: args.stage === true }) : undefined;
    const refused = refusalIn(placement);
    if (refused !== undefined) return { block: refused };
    const isConfined = confines(placement);
    const kind = kindOf(tool, tier, isConfined);
    const bypasses = access.isReviewed && !deps.allowExec && (kind === "unconfined" || placement?.kind === "bypassing");
    if (bypasses && !user.askCall && !user.confirmCall) return { block: bypassRefusal(placement) };
    const refusal = await policy(request);
    if (refusal) return refusal;
    const escalation = escalationOf(request, deps.cwd);
    if (escalation && (access.isReviewed || placement?.kind === "staged")) return { block: stagedEscalationText };
    if (escalation && isConfined) return answerEscalation(request, escalation, deps);
    const isWanted = deps.askTiers?.includes(tool.isUndeclared ? "exec" : tier);
    if (!(bypasses || isWanted || isAsked({ kind, isReviewed: access.isReviewed }, mode))) return undefined;
    const line = allowLine({ root: deps.root, tool: tool.name, args });
    if (allowed.has(line) || settings.get("approval.allow").includes(line)) return undefined;
    const answer = await answerTo(request, { ...deps, bypasses, isConfined });
    if (typeof answer === "string") return { block: answer };
    if (answer.kind === "no") return { block: refusedByUser(answer.reason) };
    if (answer.kind !== "once") allowed.add(line);
    if (answer.kind === "always" && deps.mask(line) !== line) deps.log.warn(secretCallText);
    else if (answer.kind === "always")
      await deps.allowForGood(line).catch((error) => deps.log.error(messageOf(error), error));
    return undefined;
  };
}

/** Not even with the user's yes. */
function refusalIn(placement: Placement | undefined): string | undefined {
  const how = placement?.kind === "bypassing" ? placement.onDisk : placement;
  return how?.kind === "refused" ? how.text : undefined;
}

function confines(placement: Placement | undefined): boolean {
  if (placement?.kind === "bypassing") return placement.onDisk.kind === "confined";
  return placement?.kind === "staged" || placement?.kind === "confined";
}

/** What the model reads where no user can be asked. */
function bypassRefusal(placement: Placement | undefined): string {
  return placement?.kind === "bypassing" ? `${bypassText} ${noStageText(placement.reason)}` : bypassText;
}

/** Always asked, whatever was allowed before: this one yes is worth more than the others. */
async function answerEscalation(
  { call }: ApprovalRequest,
  question: EscalationQuestion,
  { sandbox, user, mask }: CallApprovalDeps,
): Promise<{ block: string } | undefined> {
  const { command, reason } = question;
  const shown = { ...question, command: mask(command), reason: mask(reason) };
  if (!(await isEscalationAllowed(shown, user.askEscalation))) return { block: escalationRefusedText };
  sandbox.allowOutside(call.id);
  return undefined;
}
const secretCallText = "Allowed for this session only: the call holds a secret, which settings do not keep.";

/** A string is a refusal in other words. */
async function answerTo(
  request: ApprovalRequest,
  { user, cwd, bypasses, isConfined, mask }: CallApprovalDeps & { bypasses: boolean; isConfined: boolean },
): Promise<CallAnswer | string> {
  const { call, tool, tier, signal } = request;
  const { askCall, confirmCall } = user;
  const args = maskDeep(request.args, mask);
  const lines = callLines(tool, args);
  if (askCall) return askCall({ toolCallId: call.id, tool: tool.name, tier, isConfined, lines, cwd, signal });
  if (!confirmCall) return refusedByUser("no user can be asked here.");
  if (await confirmCall({ ...request, args })) return { kind: "once" };
  return bypasses ? declinedText : { kind: "no" };
}

// While every change waits for review, a call that the view cannot hold would bypass it: it runs only with the user's
// permission. What the model reads where there is none.

const bypassText = "Refused: commands bypass staging. Use --allow-exec to permit them.";
const declinedText =
  "Refused: commands bypass staging, and the user did not allow this one. Go on without it, or ask what to do instead.";
