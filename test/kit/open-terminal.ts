// A project and a home for the terminal program in tmux, with a model that plays a script where one is wanted, and what a
// shell knows of its terminal before and after.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/index.js";
import { modelsAt } from "./rpc-host.js";
import { emptyHome } from "./run-galley.js";
import { temporaryDirectory } from "./temporary-directory.js";
import { type TmuxOptions, TmuxTerminal } from "./tmux.js";

export interface OpenTerminal {
  readonly terminal: TmuxTerminal;
  readonly cwd: string;
  readonly home: string;
  readonly agentDir: string;
  readonly server: ScriptedServer | undefined;
  write(path: string, text: string): void;
  /** Starts galley and waits for its footer. */
  start(...args: string[]): Promise<void>;
}

export async function openTerminal(
  options: { replies?: readonly Reply[]; env?: NodeJS.ProcessEnv } & Pick<TmuxOptions, "columns" | "rows"> = {},
): Promise<OpenTerminal> {
  const { home, env } = emptyHome();
  const cwd = join(home, "project");
  const agentDir = join(home, ".galley/agent");
  mkdirSync(cwd);
  mkdirSync(agentDir, { recursive: true });
  const server = options.replies && (await startScriptedServer(options.replies));
  if (server) {
    onTestFinished(() => server.close());
    writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  }
  const { columns = 100, rows = 30 } = options;
  const terminal = new TmuxTerminal({ cwd, env: { ...env, ...options.env }, columns, rows });
  await terminal.shows("$");
  return {
    terminal,
    cwd,
    home,
    agentDir,
    server,
    write(path, text) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    },
    async start(...args) {
      terminal.galley(...args);
      await terminal.shows(server ? "acme/scripted" : "galley/planner");
    },
  };
}

/** `stty -g`, as the shell tells it; in a file, because the line may be longer than the screen is wide. */
export async function modesOf(terminal: TmuxTerminal): Promise<string> {
  const file = join(temporaryDirectory(), "modes");
  terminal.type(`stty -g > ${file}; echo written`);
  await terminal.shows(/^written\n\$/m);
  terminal.type("clear");
  await terminal.until((screen) => screen === "$");
  return readFileSync(file, "utf8").trim();
}

/** The terminal is as the shell had it: modes, cursor, screen, and no key is left for the shell. */
export async function expectPutBack(terminal: TmuxTerminal, before: string): Promise<void> {
  await terminal.shows(/\n\$$/);
  expect(await modesOf(terminal)).toBe(before);
  const facts = ["cursor_flag", "alternate_on", "mouse_any_flag", "keypad_flag"];
  expect(facts.map((name) => terminal.fact(name))).toEqual(["1", "0", "0", "0"]);
  const bytes = terminal.bytes;
  // Bracketed paste is the shell's own again by now.
  for (const mode of ["1004", "1049", "1000"])
    expect([mode, bytes.lastIndexOf(`\u001b[?${mode}h`) > bytes.lastIndexOf(`\u001b[?${mode}l`)]).toEqual([
      mode,
      false,
    ]);
}
