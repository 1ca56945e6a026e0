// The working mode of a session: two settings, `sandbox` and `staging`, under one name. Chosen by the front end's default,
// the files and the command line, and changed by the user or the host while the session lives; it holds from the next
// call on. A project may only make it stricter.

import type { Settings } from "../../config/settings/settings.js";
import type { AccessControl, AccessMode } from "../../session/agent-session-deps.js";
import { type ApprovalMode, approvalModes } from "./approval-policy.js";

export type { AccessMode };

export interface Access {
  readonly sandbox: "off" | "workspace" | "read-only";
  readonly staging: "off" | "auto" | "all";
}

export const accessRows: Readonly<Record<AccessMode, Access>> = {
  "read-only": { sandbox: "read-only", staging: "all" },
  stage: { sandbox: "workspace", staging: "all" },
  workspace: { sandbox: "workspace", staging: "auto" },
  full: { sandbox: "off", staging: "auto" },
};

/** The strictest first. */
export const accessModes = Object.keys(accessRows) as AccessMode[];

export interface AccessChoice {
  /** Of the command line or the host: wins over the files. */
  readonly access?: AccessMode | undefined;
  /** Of the front end: holds unless something else is said; default `full`. */
  readonly defaultAccess?: AccessMode | undefined;
  readonly approval?: ApprovalMode | undefined;
}

export class SessionAccess implements AccessControl {
  readonly #settings: Settings;
  readonly #usualApproval: ApprovalMode | undefined;
  #held: HeldAccess;

  constructor(settings: Settings, choice: AccessChoice = {}) {
    this.#settings = settings;
    this.#usualApproval = choice.approval;
    this.#held = heldAccess(settings, choice);
  }

  /** The row that holds; `custom` where the settings make none of them. */
  get mode(): AccessMode | "custom" {
    const { sandbox, staging } = this.#held;
    const isHeld = (mode: AccessMode) => accessRows[mode].sandbox === sandbox && accessRows[mode].staging === staging;
    return accessModes.find(isHeld) ?? "custom";
  }

  /** As it was asked for; whether this machine can do it is another question. */
  get sandbox(): Access["sandbox"] {
    return this.#held.sandbox;
  }

  get staging(): Access["staging"] {
    return this.#held.staging;
  }

  /**
   * A file, the command line, the host or the user asked for the sandbox: then nothing runs without it. `stage` asks for
   * the view; where there is none, commands need the user's word anyway.
   */
  get isSandboxGiven(): boolean {
    return this.#held.isSandboxGiven;
  }

  /** Every change waits for review. */
  get isReviewed(): boolean {
    return this.#held.staging === "all";
  }

  get approval(): ApprovalMode {
    return approvalModeOf(this.#settings, this.#usualApproval);
  }

  choose(mode: AccessMode): void {
    this.#held = { ...accessRows[mode], isSandboxGiven: asksForSandbox(mode) };
  }
}

export interface HeldAccess extends Access {
  readonly isSandboxGiven: boolean;
}

/**
 * From the weakest word to the strongest: the front end's default, the user's file, the project's (only what is stricter),
 * the command line or the host. In one place `sandbox` and `staging` win over what `access` stands for.
 */
export function heldAccess(
  settings: Pick<Settings, "saidBy">,
  { access, defaultAccess = "full" }: AccessChoice = {},
): HeldAccess {
  const usual: HeldAccess = { ...accessRows[defaultAccess], isSandboxGiven: false };
  const users = replaced(usual, saidIn(settings, "user"));
  const narrowed = stricterOf(users, saidIn(settings, "project"));
  const given = saidIn(settings, "override");
  return replaced(narrowed, { ...given, access: access ?? given.access });
}

interface Said {
  readonly access: AccessMode | undefined;
  readonly sandbox: Access["sandbox"] | undefined;
  readonly staging: Access["staging"] | undefined;
}

function saidIn(settings: Pick<Settings, "saidBy">, layer: "user" | "project" | "override"): Said {
  return {
    access: settings.saidBy(layer, "access"),
    sandbox: settings.saidBy(layer, "sandbox"),
    staging: settings.saidBy(layer, "staging"),
  };
}

function replaced(held: HeldAccess, { access, sandbox, staging }: Said): HeldAccess {
  const row = access === undefined ? held : accessRows[access];
  return {
    sandbox: sandbox ?? row.sandbox,
    staging: staging ?? row.staging,
    isSandboxGiven: held.isSandboxGiven || sandbox !== undefined || asksForSandbox(access),
  };
}

function asksForSandbox(access: AccessMode | undefined): boolean {
  return access === "workspace" || access === "read-only";
}

const sandboxOrder: readonly Access["sandbox"][] = ["off", "workspace", "read-only"];
const stagingOrder: readonly Access["staging"][] = ["off", "auto", "all"];

function stricterOf(held: HeldAccess, said: Said): HeldAccess {
  const wanted = replaced(held, said);
  return {
    sandbox: later(sandboxOrder, held.sandbox, wanted.sandbox),
    staging: later(stagingOrder, held.staging, wanted.staging),
    isSandboxGiven: wanted.isSandboxGiven,
  };
}

function later<Value>(order: readonly Value[], one: Value, other: Value): Value {
  return order.indexOf(other) > order.indexOf(one) ? other : one;
}

/** A project can only ask for more than what would hold without it. */
function approvalModeOf(settings: Settings, usual: ApprovalMode = "never"): ApprovalMode {
  const set = settings.get("approval.mode");
  if (settings.isSetByUser("approval.mode")) return set;
  return approvalModes[Math.max(approvalModes.indexOf(set), approvalModes.indexOf(usual))] ?? "ask-writes";
}
