// A directory on the real disk with the search tools in it, with ripgrep or without.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { silentLog } from "../../src/base/log.js";
import { createNodeWorkspace } from "../../src/files/node-workspace.js";
import type { Permit } from "../../src/files/workspace.js";
import { createNodeProcesses } from "../../src/processes/node-processes.js";
import type { Processes } from "../../src/processes/processes.js";
import type { ToolResult } from "../../src/protocol/events.js";
import { createFind, type FindOptions } from "../../src/tools/find.js";
import { createGrep } from "../../src/tools/grep.js";
import type { AnyTool } from "../../src/tools/tool.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface SearchRig {
  readonly cwd: string;
  readonly processes: Processes;
  /** What the user was asked; the answer is always yes. */
  readonly questions: readonly string[];
  grep(args: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  find(args: Record<string, unknown>, options?: CallOptions & FindOptions): Promise<ToolResult>;
  write(files: Record<string, string | Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  without?: "ripgrep";
  signal?: AbortSignal;
  processes?: Processes;
}

/** `files` maps paths below the working directory to contents; the home and the agent's directory are elsewhere. */
export async function openSearchRig(files: Record<string, string | Uint8Array> = {}): Promise<SearchRig> {
  const top = temporaryDirectory();
  const cwd = join(top, "project");
  await mkdir(cwd);
  const home = join(top, "home");
  const questions: string[] = [];
  const permit: Permit = async ({ displayPath }) => {
    questions.push(displayPath);
    return true;
  };
  const workspace = createNodeWorkspace({ cwd, home, permit });
  const unattended = createNodeWorkspace({ cwd, home });
  const processes = createNodeProcesses({ env: process.env, log: silentLog });
  const parts = (options: CallOptions) => ({
    workspace,
    unattended,
    processes: options.processes ?? processes,
    ...(options.without ? { ripgrepPath: () => undefined } : {}),
  });
  const rig: SearchRig = {
    cwd,
    processes,
    questions,
    grep: (args, options = {}) => call(createGrep(parts(options)), args, { cwd, signal: options.signal }),
    find: (args, { timeoutMs, clock, ...options } = {}) => {
      const limits = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(clock ? { clock } : {}) };
      return call(createFind(parts(options), limits), args, { cwd, signal: options.signal });
    },
    async write(more) {
      for (const [name, content] of Object.entries(more)) {
        const path = join(cwd, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      }
    },
    async close() {
      await processes.shutdown();
    },
  };
  await rig.write(files);
  return rig;
}

/** The text that a model reads. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

async function call(
  tool: AnyTool,
  args: Record<string, unknown>,
  { cwd, signal }: { cwd: string; signal: AbortSignal | undefined },
): Promise<ToolResult> {
  const prepared = tool.prepareArguments?.(args) ?? args;
  return tool.execute("call_1", prepared as never, signal, () => {}, { cwd });
}
