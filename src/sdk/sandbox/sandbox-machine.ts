// The contract of what confines and stages on a machine, and what it needs to know of a session.

import type { StageView } from "../../files/layer/stage-view.js";
import type { Sandbox } from "../../processes/sandbox/box.js";
import type { SessionEnvironment } from "../session-environment.js";

/** What does the work; replaced in tests. */
export interface SandboxMachine {
  sandbox(environment: SandboxEnvironment): Promise<Sandbox>;
  view(request: ViewRequest): Promise<StageView>;
}

export type SandboxEnvironment = Pick<
  SessionEnvironment,
  "cwd" | "home" | "agentDir" | "project" | "settings" | "clock" | "log" | "env"
>;

export interface ViewRequest {
  readonly environment: SandboxEnvironment;
  readonly roots: readonly string[];
  readonly sessionId: string;
  hasPending(): boolean;
}
