// A real terminal for the built program: tmux, with a server of its own for each test. Keys go in, screens come out; waiting
// means looking until the screen shows it, never sleeping and hoping.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isRunning } from "./is-running.js";
import { galleyBin } from "./run-galley.js";
import { temporaryDirectory } from "./temporary-directory.js";

/** Undefined where there is no tmux: then tests say why they are skipped. */
export const tmuxVersion: string | undefined = (() => {
  const { status, stdout } = spawnSync("tmux", ["-V"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
})();

export const withoutTmux = "skipped: tmux is not installed";

export interface TmuxOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
}

const patienceMs = 20_000;
const lookEveryMs = 20;
/** How often to look although nothing was written: a window of another size is drawn anew by tmux itself. */
const lookAnywayEveryMs = 400;

export class TmuxTerminal {
  readonly #socket: string;
  readonly #bytes: string;
  readonly #env: NodeJS.ProcessEnv;

  /** A shell with the prompt `$ `. */
  constructor({ cwd, env, columns = 100, rows = 30 }: TmuxOptions) {
    const directory = temporaryDirectory();
    this.#socket = join(directory, "tmux");
    this.#bytes = join(directory, "bytes");
    this.#env = { PATH: process.env.PATH, HOME: directory };
    const config = join(directory, "tmux.conf");
    // Truecolor and modified keys as common terminals have them; the history is long enough for every test.
    writeFileSync(
      config,
      "set -g history-limit 100000\nset -g default-terminal tmux-256color\nset -g extended-keys on\n",
    );
    const size = ["-x", String(columns), "-y", String(rows)];
    const variables = Object.entries({ PS1: "$ ", HISTFILE: "/dev/null", LANG: "C.UTF-8", ...env }).map(
      ([name, value]) => `${name}=${value}`,
    );
    const shell = ["env", "-i", ...variables, "TERM=tmux-256color", "bash", "--norc", "--noprofile"];
    this.#tmux("-f", config, "new-session", "-d", "-s", "test", ...size, "-c", cwd, ...shell);
    onTestFinished(async () => {
      const server = Number(this.fact("pid"));
      const running = [server, ...descendants(server)];
      spawnSync("tmux", ["-S", this.#socket, "kill-server"], { env: this.#env });
      await allEnded(running); // what still writes would be in the way when its directory is removed
    });
    writeFileSync(this.#bytes, ""); // `cat` starts a moment later
    this.#tmux("pipe-pane", "-t", "test", `cat >> '${this.#bytes}'`);
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8", env: this.#env });
  }

  /** A line for the shell. */
  type(line: string): void {
    this.#tmux("send-keys", "-t", "test", "-l", "--", line, ";", "send-keys", "-t", "test", "Enter");
  }

  /** Starts galley in the shell. */
  galley(...args: string[]): void {
    this.type(["node", galleyBin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" "));
  }

  /** Keys by tmux's names: `C-c`, `Enter`, `M-Enter`, `Escape`. */
  keys(...names: string[]): void {
    this.#tmux("send-keys", "-t", "test", ...names);
  }

  /** As it would be typed. */
  write(text: string): void {
    this.#tmux("send-keys", "-t", "test", "-l", text);
  }

  paste(text: string): void {
    this.#tmux("set-buffer", text);
    this.#tmux("paste-buffer", "-p", "-t", "test");
  }

  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-t", "test", "-x", String(columns), "-y", String(rows));
  }

  /** The background that the terminal tells a program that asks. */
  background(colour: string): void {
    this.#tmux("select-pane", "-t", "test", "-P", `bg=#${colour.replace(/rgb:(..)..\/(..)..\/(..)../, "$1$2$3")}`);
  }

  /** The visible rows, without spaces at their ends. */
  get screen(): string {
    return this.#tmux("capture-pane", "-p", "-t", "test")
      .replace(/[ \t]+$/gm, "")
      .trimEnd();
  }

  /** With colours, as escape sequences. */
  get colouredScreen(): string {
    return this.#tmux("capture-pane", "-p", "-e", "-t", "test");
  }

  /** Scrollback and screen. */
  get everything(): string {
    return this.#tmux("capture-pane", "-p", "-S", "-", "-t", "test")
      .replace(/[ \t]+$/gm, "")
      .trimEnd();
  }

  /** Every byte that the terminal was sent. */
  get bytes(): string {
    return readFileSync(this.#bytes, "utf8");
  }

  /** What tmux knows of the terminal: `cursor_flag`, `alternate_on`, `pane_title`. */
  fact(name: string): string {
    return this.#tmux("display-message", "-p", "-t", "test", `#{${name}}`).trim();
  }

  /** Looks until the screen shows it; returns the screen. */
  async shows(wanted: string | RegExp, where: "screen" | "everything" = "screen"): Promise<string> {
    return this.until((screen) => (typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen)), {
      what: String(wanted),
      where,
    });
  }

  async until(
    holds: (screen: string) => boolean,
    { what = "", where = "screen" as "screen" | "everything" } = {},
  ): Promise<string> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const written = this.#written;
      const screen = this[where];
      if (holds(screen)) return screen;
      const now = performance.now();
      if (now > end) throw new Error(`The terminal never showed ${what}. It shows:\n${screen}`);
      // Every look starts a program, and costs as much as what is waited for.
      do await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      while (this.#written === written && performance.now() < now + lookAnywayEveryMs);
    }
  }

  /** How many bytes the terminal was sent. They may come here after they are on the screen. */
  get #written(): number {
    return statSync(this.#bytes).size;
  }
}

function descendants(top: number): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const below = (of: number): number[] =>
    rows.flatMap(([pid = 0, parent]) => (parent === of ? [pid, ...below(pid)] : []));
  return below(top);
}

async function allEnded(pids: readonly number[]): Promise<void> {
  const end = performance.now() + 5000;
  while (pids.some(isRunning) && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
}
