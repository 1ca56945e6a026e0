// The working mode of a session: what becomes of changes, and whether commands run. Chosen by the front end's default, and
// changed by the user or the host while the session lives; it holds from the next call on. There is no sandbox yet, so that
// `workspace` and `full` differ in what the user is told, not in what a command can do.

import type { Settings } from "../../config/settings/settings.js";
import type { AccessControl, AccessMode } from "../../session/agent-session-deps.js";
import { type ApprovalMode, approvalModes } from "./approval-policy.js";
import { refusesCommands } from "./sandbox-policy.js";

export const accessModes: readonly AccessMode[] = ["read-only", "stage", "workspace", "full"];
export type { AccessMode };

export const readOnlyText = "Refused: the access mode is read-only, and no command runs in it.";

const stagingOf = { "read-only": "all", stage: "all", workspace: "auto", full: "auto" } as const;

export class SessionAccess implements AccessControl {
  readonly #settings: Settings;
  readonly #usualApproval: ApprovalMode | undefined;
  #chosen: AccessMode | undefined;

  /** `usual` holds unless the user, the project or the caller has set `sandbox`, or `staging` to something else. */
  constructor(settings: Settings, { access: usual, approval }: { access?: AccessMode; approval?: ApprovalMode } = {}) {
    this.#settings = settings;
    this.#usualApproval = approval;
    if (usual === undefined || settings.sourceOf("sandbox") !== "default") return;
    const isOther = settings.sourceOf("staging") !== "default" && settings.get("staging") !== stagingOf[usual];
    if (!isOther) this.choose(usual);
  }

  /** The row that holds; `custom` where the settings make none of them. */
  get mode(): AccessMode | "custom" {
    if (this.#chosen !== undefined) return this.#chosen;
    const staging = this.#settings.get("staging");
    if (refusesCommands(this.#settings)) return "custom";
    return staging === "all" ? "stage" : staging === "auto" ? "full" : "custom";
  }

  get approval(): ApprovalMode {
    return approvalModeOf(this.#settings, this.#usualApproval);
  }

  choose(mode: AccessMode): void {
    this.#chosen = mode;
    this.#settings.override("staging", stagingOf[mode]);
  }

  /** Every change waits for review. */
  get isReviewed(): boolean {
    return this.#settings.get("staging") === "all";
  }

  get isReadOnly(): boolean {
    return this.#chosen === "read-only";
  }

  /** A sandbox was asked for that is not there. `full` asks for none. */
  get needsMissingSandbox(): boolean {
    return this.#chosen !== "full" && refusesCommands(this.#settings);
  }
}

/** A project can only ask for more than what would hold without it. */
function approvalModeOf(settings: Settings, usual: ApprovalMode = "never"): ApprovalMode {
  const set = settings.get("approval.mode");
  if (settings.isSetByUser("approval.mode")) return set;
  return approvalModes[Math.max(approvalModes.indexOf(set), approvalModes.indexOf(usual))] ?? "ask-writes";
}
