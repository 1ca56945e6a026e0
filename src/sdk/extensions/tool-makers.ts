// The makers of built-in tools that published extensions import: `createBashTool(cwd, options)` and the like. What they
// make is wrapped, renamed and registered by extensions, or works somewhere else through their functions.

import { resolve } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import { suggestion } from "../../base/nearest-name.js";
import { defineTool } from "../../extensions/api/custom-tool.js";
import type { Workspace } from "../../files/workspace.js";
import type { Processes } from "../../processes/processes.js";
import { findShell } from "../../processes/shell.js";
import { createEdit } from "../../tools/edit.js";
import { createFind } from "../../tools/find.js";
import { createGrep } from "../../tools/grep.js";
import { createLs } from "../../tools/ls.js";
import { createRead } from "../../tools/read.js";
import { listResult, resultLimit } from "../../tools/search/find-result.js";
import { hasWildcard, splitGlob } from "../../tools/search/glob.js";
import { notFound } from "../../tools/search/search-roots.js";
import { SeenFiles } from "../../tools/seen-files.js";
import type { AnyTool } from "../../tools/tool.js";
import { createWrite } from "../../tools/write.js";
import type { SessionEnvironment } from "../session-environment.js";
import {
  type BashOperations,
  hookedProcesses,
  localOperations,
  operationsProcesses,
  type SpawnHook,
} from "./operations-processes.js";
import { type FileOperations, operationsWorkspace, unstaged } from "./operations-workspace.js";

export interface ToolMakerDeps extends Pick<SessionEnvironment, "cwd" | "clock" | "env"> {
  readonly processes: Processes;
  /** The built-in tools, as they would be in another directory. */
  toolsIn(cwd: string, instead?: ToolsInstead): readonly AnyTool[];
  /** The files of this machine, as the session's own tools see them. */
  readonly workspace?: Workspace;
}

/** What replaces the session's own. */
export interface ToolsInstead {
  readonly processes?: Processes;
  readonly autoResize?: boolean;
  /** The extension runs commands by itself, where nothing of ours confines them. */
  readonly runsElsewhere?: boolean;
}

export interface MakerOptions {
  /** Comes before every command. */
  commandPrefix?: string;
  /** Changes a command, its directory or its environment right before it runs. */
  spawnHook?: SpawnHook;
  /** Makes large images smaller; default: as in the settings. */
  autoResizeImages?: boolean;
  /** Where and how the work is done instead of here. */
  operations?: object;
}

export type ToolMaker = (cwd?: string, options?: MakerOptions) => AnyTool;

/** By tool: the options that its maker takes, and the functions that its operations need. */
const makers = {
  Bash: { options: ["commandPrefix", "spawnHook", "operations"], operations: ["exec"] },
  Read: { options: ["autoResizeImages", "operations"], operations: ["readFile", "access"] },
  Write: { options: ["operations"], operations: ["writeFile"] },
  Edit: { options: ["operations"], operations: ["readFile", "writeFile", "access"] },
  Find: { options: ["operations"], operations: ["exists", "glob"] },
  Grep: { options: ["operations"], operations: ["isDirectory", "readFile"] },
  Ls: { options: ["operations"], operations: ["exists", "stat", "readdir"] },
} as const;

type MakerName = keyof typeof makers;

/** A tool and a definition are the same here: both take their arguments in the order of extensions. */
export function toolMakers(deps: ToolMakerDeps) {
  const named = (Object.keys(makers) as MakerName[]).flatMap((name) => {
    const make: ToolMaker = (cwd = deps.cwd, options = {}) =>
      defineTool(toolWith(deps, name, { cwd: resolve(deps.cwd, cwd), options }) as never) as AnyTool;
    return [
      [`create${name}Tool`, make],
      [`create${name}ToolDefinition`, make],
    ];
  });
  const made = Object.fromEntries(named) as Record<`create${MakerName}Tool${"" | "Definition"}`, ToolMaker>;
  const several = (names: readonly MakerName[]) => (cwd?: string) =>
    names.map((name) => made[`create${name}Tool`](cwd));
  return {
    ...made,
    createCodingTools: several(["Read", "Bash", "Edit", "Write"]),
    createReadOnlyTools: several(["Read", "Grep", "Find", "Ls"]),
    createLocalBashOperations: () => localOperations(deps),
    getShellConfig: (shell?: string) => ({
      shell: shell ?? findShell({ path: deps.env.PATH, projectRoot: deps.cwd }),
      args: ["-c"],
    }),
  };
}

function toolWith(deps: ToolMakerDeps, name: MakerName, { cwd, options }: { cwd: string; options: MakerOptions }) {
  checkOptions(name, options);
  const { commandPrefix, spawnHook, autoResizeImages, operations } = options;
  if (operations !== undefined && name !== "Bash") return toolElsewhere(deps, name, { cwd, operations, options });
  const own = operations === undefined ? deps.processes : operationsProcesses(operations as BashOperations, deps.clock);
  const processes = spawnHook ? hookedProcesses(own, spawnHook, deps.env) : own;
  const instead = {
    ...(processes === deps.processes ? {} : { processes }),
    autoResize: autoResizeImages,
    ...(operations === undefined ? {} : { runsElsewhere: true }),
  };
  const tool = deps.toolsIn(cwd, instead).find((one) => one.name === name.toLowerCase()) as AnyTool;
  return { ...(commandPrefix === undefined ? tool : prefixed(tool, commandPrefix)) };
}

/** Throws `unsupported` for an option that would be ignored. */
function checkOptions(name: MakerName, options: MakerOptions): void {
  const { options: known, operations: needed } = makers[name];
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const [unknown] = given.find(([option]) => !(known as readonly string[]).includes(option)) ?? [];
  if (unknown !== undefined)
    throw new GalleyError(
      "unsupported",
      `create${name}Tool has no option "${unknown}"${suggestion(unknown, known) || "."}`,
    );
  const { operations } = options;
  if (operations === undefined) return;
  const missing = needed.find((operation) => !isObject(operations) || typeof operations[operation] !== "function");
  if (missing !== undefined)
    throw new GalleyError("invalid_argument", `The operations of create${name}Tool need a function ${missing}.`);
}

function prefixed(tool: AnyTool, prefix: string): AnyTool {
  const execute = tool.execute as (id: string, params: Record<string, unknown>, ...rest: unknown[]) => unknown;
  return {
    ...tool,
    execute: ((id: string, params: Record<string, unknown>, ...rest: unknown[]) =>
      execute.call(tool, id, { ...params, command: `${prefix}\n${params.command}` }, ...rest)) as AnyTool["execute"],
  };
}

interface Elsewhere {
  readonly cwd: string;
  readonly operations: FileOperations;
  readonly options: MakerOptions;
}

function toolElsewhere(deps: ToolMakerDeps, name: Exclude<MakerName, "Bash">, { cwd, operations, options }: Elsewhere) {
  const { clock, processes, workspace: here } = deps;
  const workspace = operationsWorkspace(operations, {
    cwd,
    ...(here ? { walk: (...args) => here.walk(...args) } : {}),
  });
  const text = { workspace, seen: new SeenFiles(), staging: unstaged(workspace) };
  // Nothing of what it writes can be previewed or undone, like what a command does.
  const writes = { approval: "exec" as const };
  switch (name) {
    case "Read":
      return createRead(workspace, { clock, autoResize: options.autoResizeImages ?? true });
    case "Write":
      return { ...createWrite(text), ...writes };
    case "Edit":
      return { ...createEdit(text), ...writes };
    case "Ls":
      return createLs(workspace);
    case "Grep":
      return createGrep({ workspace, unattended: workspace, processes, ripgrepPath: () => undefined });
    case "Find":
      return findElsewhere(workspace, operations);
  }
}

const ignored = ["**/node_modules/**", "**/.git/**"];

function findElsewhere(workspace: Workspace, operations: FileOperations): AnyTool {
  const { execute: _own, ...tool } = createFind({ workspace, unattended: workspace, processes: {} as Processes });
  return {
    ...tool,
    async execute(_toolCallId: string, { pattern, limit }: { pattern: string; limit?: number }) {
      const wanted = resultLimit(limit, 1000);
      const { base, glob } = hasWildcard(pattern) ? splitGlob(pattern) : { base: ".", glob: pattern };
      const root = resolve(workspace.cwd, base);
      if (!(await operations.exists?.(root))) throw notFound(base);
      const found = (await operations.glob?.(glob, root, { ignore: ignored, limit: wanted })) ?? [];
      if (found.length === 0) return { ...listResult(["No files found matching pattern"]), isWarning: true };
      return listResult(found.slice(0, wanted), { limitReached: found.length > wanted ? wanted : undefined });
    },
  } as unknown as AnyTool;
}
