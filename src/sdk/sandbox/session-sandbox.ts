// What this machine can do to confine and to stage a session's commands, found out on first use, and what follows from it
// for the working mode that holds. A sandbox that was asked for and is not there means that no command runs.

import { messageOf } from "../../base/errors.js";
import type { SandboxProbe } from "../../processes/sandbox/box.js";
import type { SandboxState } from "../../protocol/data.js";
import type { SandboxView } from "../../session/agent-session-deps.js";
import type { SessionAccess } from "../access/access-mode.js";

/** How staged commands are run; `reason` where they are not. */
export type StageState = SandboxState["stage"];

export interface SessionSandboxDeps {
  readonly access: SessionAccess;
  /** What confined commands reach. */
  network(): SandboxState["network"];
  /** By a real command; once in a process. */
  probe(): Promise<SandboxProbe>;
  probeStage(): Promise<StageState>;
  warn(text: string): void;
}

/** How a command runs that is not staged. */
export type DiskPlacement =
  | { readonly kind: "confined"; readonly mode: "workspace" | "read-only" }
  | { readonly kind: "unconfined" }
  | { readonly kind: "refused"; readonly text: string };

/** How one command runs. */
export type Placement =
  | DiskPlacement
  /** In the view, where nothing reaches the disk. */
  | { readonly kind: "staged"; readonly mode: "workspace" | "read-only" }
  /** Every change waits for review, and what this one does to files cannot: it runs only with the user's word. */
  | { readonly kind: "bypassing"; readonly reason: string; readonly onDisk: DiskPlacement };

export function noSandboxText(reason: string): string {
  return `Commands need the sandbox you asked for, and it is not available: ${reason} Set sandbox to off to run them with your rights.`;
}

export function noStageText(reason: string): string {
  return `Staging commands is not possible here: ${reason}`;
}

export const notTriedText = "Not tried yet: no command was staged.";
const notTried: StageState = { mechanism: "none", reason: notTriedText };

export class SessionSandbox implements SandboxView {
  readonly #deps: SessionSandboxDeps;
  #probe: SandboxProbe | undefined;
  #probing: Promise<SandboxProbe> | undefined;
  #stage: StageState | undefined;
  #stageProbing: Promise<StageState> | undefined;
  #hasWarned = false;
  /** Calls that the user let out of the sandbox, until they run. */
  readonly #outside = new Set<string>();

  constructor(deps: SessionSandboxDeps) {
    this.#deps = deps;
  }

  /** As hosts are told; complete once `learn` has nothing to wait for. */
  get state(): SandboxState {
    const { access, network } = this.#deps;
    const stage = this.#stage ?? notTried;
    const unconfined = { mode: "off", mechanism: "none", network: "on", stage } as const;
    if (access.sandbox === "off") return unconfined;
    const { mechanism, reason } = this.#probe ?? notProbed;
    if (mechanism === "none" && !access.isSandboxGiven)
      return { ...unconfined, reason: `${reason ?? ""} Commands run with your rights.`.trim() };
    return { mode: access.sandbox, mechanism, network: network(), stage, reason };
  }

  /** What confined commands reach. */
  get network(): SandboxState["network"] {
    return this.#deps.network();
  }

  learn(): Promise<void> | undefined {
    const { access } = this.#deps;
    const needsProbe = access.sandbox !== "off" && !this.#probe;
    const needsStage = access.isReviewed && !this.#stage;
    if (!needsProbe && !needsStage) return undefined;
    return Promise.all([needsProbe ? this.probe() : undefined, needsStage ? this.stage() : undefined]).then(() => {});
  }

  async probe(): Promise<SandboxProbe> {
    this.#probing ??= this.#deps.probe().catch((error: unknown) => ({ mechanism: "none", reason: messageOf(error) }));
    this.#probe = await this.#probing;
    return this.#probe;
  }

  async stage(): Promise<StageState> {
    this.#stageProbing ??= this.#deps
      .probeStage()
      .catch((error: unknown): StageState => ({ mechanism: "none", reason: messageOf(error) }));
    this.#stage = await this.#stageProbing;
    return this.#stage;
  }

  /** `stage`: this one is to be staged, also where others are not. */
  async place({ stage: isWanted = false }: { readonly stage?: boolean } = {}): Promise<Placement> {
    const { access } = this.#deps;
    if (!isWanted && !access.isReviewed) return this.onDisk();
    const { mechanism, reason = "" } = await this.stage();
    const mode = access.sandbox === "read-only" ? "read-only" : "workspace";
    if (mechanism !== "none") return { kind: "staged", mode };
    if (mode === "read-only") return this.onDisk(); // it changes nothing there either
    if (isWanted) return { kind: "refused", text: noStageText(reason) };
    return { kind: "bypassing", reason, onDisk: await this.onDisk() };
  }

  /** The user's yes, for this one call. */
  allowOutside(toolCallId: string): void {
    this.#outside.add(toolCallId);
  }

  /** Whether there was one. It is used up. */
  takeOutside(toolCallId: string): boolean {
    return this.#outside.delete(toolCallId);
  }

  /** How a command runs that is not staged. */
  async onDisk(): Promise<DiskPlacement> {
    const { access, warn } = this.#deps;
    const { sandbox: mode } = access;
    if (mode === "off") return { kind: "unconfined" };
    const { mechanism, reason = "" } = await this.probe();
    if (mechanism !== "none") return { kind: "confined", mode };
    if (access.isSandboxGiven) return { kind: "refused", text: noSandboxText(reason) };
    if (!this.#hasWarned) warn(`No sandbox: ${reason} Commands run with your rights.`);
    this.#hasWarned = true;
    return { kind: "unconfined" };
  }
}

/** Until a host asks or a command runs. */
const notProbed = { mechanism: "unknown", reason: undefined } as const;
