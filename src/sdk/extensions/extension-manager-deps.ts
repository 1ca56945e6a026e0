// What the manager of a session's extensions is made with.

import type { ConfigRoot } from "../../config/config-roots.js";
import type { ConfigLocation } from "../../config/survey-extensions.js";
import type { HostModules } from "../../extensions/compat/virtual-modules.js";
import type { SystemPromptOptions } from "../../extensions/hooks/hooks.js";
import type { FoundTool } from "../../extensions/load/load-factory.js";
import type { Workspace } from "../../files/workspace.js";
import type { ChangeWriter } from "../../plans/change-writer.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { ModelFunctionsDeps } from "../pi-modules/model-functions.js";
import type { RegisteredProvidersDeps } from "../pi-modules/registered-providers.js";
import type { KnownSecrets } from "../secrets/known-secrets.js";
import type { LoadSessionExtensionsDeps } from "./load-session-extensions.js";

export interface ExtensionManagerDeps
  extends ModelFunctionsDeps,
    Pick<LoadSessionExtensionsDeps, "processes" | "projectProcesses" | "clock" | "log" | keyof ConfigLocation> {
  readonly workspace: Workspace;
  readonly changes: ChangeWriter;
  readonly registry: RegisteredProvidersDeps["registry"];
  readonly secrets: KnownSecrets;
  /** The configuration directories. */
  readonly roots: readonly ConfigRoot[];
  readonly hostModules: HostModules;
  readonly givenTools: readonly FoundTool[];
  /** Throws before the session is made. */
  session(): AgentSession;
  promptParts(): Pick<SystemPromptOptions, "contextFiles" | "skills">;
  readonly allowsTool?: ((name: string) => boolean) | undefined;
  /** `interactive`, `rpc`, `print` or `json`. */
  readonly mode: string;
  /** An extension wants the program to end. */
  shutdown(): void;
}
