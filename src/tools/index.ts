// The built-in tools. Making them costs nothing: what is heavy is loaded by the first call that needs it.

import type { Clock } from "../base/clock.js";
import { isObject, type JsonObject, type JsonSchema } from "../base/json.js";
import type { Workspace } from "../files/workspace.js";
import type { Processes } from "../processes/processes.js";
import { createAsk } from "./ask.js";
import { createAstEdit } from "./ast-edit.js";
import { createAstGrep } from "./ast-grep.js";
import { type BashDeps, type BashSettings, createBash } from "./bash.js";
import type { Confinement } from "./confinement.js";
import { createEdit } from "./edit.js";
import { createFind } from "./find.js";
import { createGrep } from "./grep.js";
import { createLs } from "./ls.js";
import { createRead } from "./read.js";
import { installedRipgrep } from "./search/ripgrep.js";
import { SeenFiles } from "./seen-files.js";
import { stagedWorkspace } from "./staged-workspace.js";
import type { Staging } from "./staging.js";
import type { EditLeniency } from "./text/compute-edit.js";
import { createTodoWrite, type TodoStore } from "./todo-write.js";
import type { AnyTool, ArtifactSource, Dialogs } from "./tool.js";
import { createWrite } from "./write.js";

export interface BuiltInToolDeps {
  readonly workspace: Workspace;
  /** The same rules without asking the user, for files that a search finds. */
  readonly unattended: Workspace;
  readonly processes: Processes;
  readonly artifacts: ArtifactSource;
  readonly staging: Staging;
  readonly todos: TodoStore;
  readonly clock: Clock;
  /** The session, and so the todo list, is kept in a file. */
  readonly isPersistent: boolean;
  /** Asks the user; without it there is no `ask` tool. */
  readonly dialogs?: Dialogs | undefined;
  readonly maskOutput?: BashDeps["maskOutput"];
  /** How commands are confined and staged; default: not at all. */
  readonly confinement?: Confinement | undefined;
  readonly settings: ToolSettings;
}

export interface ToolSettings {
  readonly bash?: BashSettings;
  readonly read?: { readonly defaultLimit?: number; readonly autoResize?: boolean };
  readonly ask?: { readonly timeoutMs: number };
  readonly edit?: EditLeniency;
  readonly astEdit?: { readonly maxFiles?: number };
}

/** In the order in which a model is offered them. */
export function createBuiltInTools(deps: BuiltInToolDeps): AnyTool[] {
  const { processes, artifacts, todos, clock, dialogs, settings, maskOutput, confinement } = deps;
  const seen = new SeenFiles();
  // While everything waits for review, tools see what is staged. As soon as something is, ripgrep would only see the disk.
  const isReviewed = () => deps.staging.mode() === "all";
  // A tool's changes cannot depend on files that it does not see.
  const staging: Staging = {
    ...deps.staging,
    staged: (path) => (isReviewed() ? deps.staging.staged(path) : []),
    stagedPaths: () => (isReviewed() ? deps.staging.stagedPaths() : []),
    get kept() {
      return isReviewed() ? deps.staging.kept : undefined;
    },
  };
  const seenBy = (disk: Workspace) => eitherWorkspace(disk, stagedWorkspace(disk, staging), isReviewed);
  const workspace = seenBy(deps.workspace);
  const unattended = seenBy(deps.unattended);
  const ripgrepPath = () => (staging.stagedPaths().length > 0 ? undefined : installedRipgrep());
  const search = { workspace, unattended, processes, ripgrepPath };
  const tools: AnyTool[] = [
    createRead(workspace, { clock, seen, artifacts, ...settings.read }),
    createBash({ workspace, processes, artifacts, clock, settings: settings.bash, maskOutput, confinement }),
    createEdit({ workspace, seen, staging, ...settings.edit }),
    createWrite({ workspace, seen, staging }),
    createGrep(search),
    createFind(search, { clock }),
    createLs(workspace),
    createAstGrep(unattended, { ripgrep: search }),
    createAstEdit({ workspace, seen, staging, artifacts, ripgrep: search, ...settings.astEdit }),
    createTodoWrite({ store: todos, storage: () => (deps.isPersistent ? "session" : "memory") }),
    ...(dialogs ? [createAsk({ dialogs, timeoutMs: settings.ask?.timeoutMs ?? 30_000 })] : []),
  ];
  return tools.map((tool) => published(tool, { givesAway: true }));
}

/** The access mode may change between two calls: each use looks at the one that holds. */
function eitherWorkspace(disk: Workspace, staged: Workspace, isReviewed: () => boolean): Workspace {
  return new Proxy(disk, {
    get(_target, name) {
      const chosen = isReviewed() ? staged : disk;
      const member: unknown = Reflect.get(chosen, name);
      return typeof member === "function" ? member.bind(chosen) : member;
    },
  });
}

// A schema as models see it: bounds that only protect us from absurd arguments are left out, because every byte is sent
// with every request.

const guards = new Set(["maxLength", "maxItems", "minItems", "minimum", "maximum", "pattern"]);

/** Made when it is first asked for, which is with the first request. */
function published(tool: AnyTool, more: Partial<AnyTool> = {}): AnyTool {
  let made: JsonSchema | undefined;
  return {
    ...tool,
    ...more,
    /** It may depend on the working mode. */
    get description() {
      return tool.description;
    },
    get published() {
      made ??= withoutGuards(tool.published ?? tool.parameters) as JsonSchema;
      return made;
    },
  };
}

function withoutGuards(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(schema))
    if (!guards.has(key)) kept[key] = key === "properties" ? eachProperty(value) : withoutGuards(value);
  return kept;
}

/** Here the keys are names of arguments: one may well be called `pattern`. */
function eachProperty(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  const kept: JsonObject = {};
  for (const [name, schema] of Object.entries(properties)) kept[name] = withoutGuards(schema);
  return kept;
}
