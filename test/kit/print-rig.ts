// One-shot runs of the built program: a home and a project for each, and a model that plays a script.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAi, type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/index.js";
import { modelsAt } from "./rpc-host.js";
import { emptyHome, galleyBin, type Outcome, run } from "./run-galley.js";

export interface PrintRig {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** A directory of its own for each test. */
  readonly cwd: string;
  newProject(): void;
  write(path: string, text: string): void;
  galley(args: readonly string[], more?: { env?: NodeJS.ProcessEnv; input?: string }): Promise<Outcome>;
  /** With a model that plays these replies; they must all be asked for. */
  withModel(
    replies: readonly Reply[],
    args: readonly string[],
    /** Further lines of the model in the models file. */
    more?: string,
  ): Promise<Outcome & { requests: unknown[] }>;
  /** The models file of the user; undefined removes it. */
  models(text: string | undefined): void;
  /** In a terminal that the program `script` provides: everything that appeared there, with its escape sequences. */
  inTerminal(args: readonly string[]): Promise<Outcome>;
  remove(): void;
}

export function createPrintRig(): PrintRig {
  const { home, env, remove } = emptyHome();
  const agentDir = join(home, ".galley/agent");
  let cwd = home;
  let number = 0;
  const galley: PrintRig["galley"] = (args, more = {}) =>
    run(process.execPath, [galleyBin, ...args], { cwd, input: more.input ?? "", env: { ...env, ...more.env } });
  const models = (text: string | undefined) => {
    mkdirSync(agentDir, { recursive: true });
    if (text === undefined) rmSync(join(agentDir, "models.yml"), { force: true });
    else writeFileSync(join(agentDir, "models.yml"), text);
  };
  return {
    home,
    env,
    get cwd() {
      return cwd;
    },
    newProject() {
      cwd = join(home, `project${++number}`);
      mkdirSync(cwd);
    },
    write: (path, text) => writeFileSync(join(cwd, path), text),
    galley,
    async withModel(replies, args, more) {
      const server: ScriptedServer = await startScriptedServer(replies);
      models(modelsAt(server.url, undefined, more));
      const outcome = await galley(args).finally(() => models(undefined));
      const requests = server.requests.map(({ body }) => body);
      await server.close();
      return { ...outcome, requests };
    },
    models,
    inTerminal(args) {
      const command = [process.execPath, galleyBin, ...args]
        .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
        .join(" ");
      const terminal = { ...env, TERM: "xterm", COLUMNS: "100", LINES: "30" };
      return run("script", ["-qec", command, "/dev/null"], { cwd, env: terminal, input: "" });
    },
    remove,
  };
}

/** Whether a terminal can be had for a test. */
export const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"], { input: "" }).status === 0;

export function call(name: string, args: Record<string, unknown>, id = "c1"): Reply {
  return openAi.toolCalls([{ id, name, arguments: args }]);
}

export function jsonLines({ stdout }: Outcome): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
