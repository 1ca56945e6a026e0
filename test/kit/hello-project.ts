// A copy of examples/hello in a home of its own, and the real program in it: each call a process.

import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { emptyHome, galleyBin, type Outcome, projectRoot, run } from "./run-galley.js";

export class HelloProject {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly remove: () => void;
  /** The project that `renew` made last. */
  cwd = "";
  #number = 0;

  constructor() {
    const { home, env, remove } = emptyHome();
    this.home = home;
    this.env = env;
    this.remove = remove;
  }

  get number(): number {
    return this.#number;
  }

  renew(): void {
    this.cwd = join(this.home, `project${++this.#number}`);
    mkdirSync(this.cwd);
    cpSync(join(projectRoot, "examples/hello"), join(this.cwd, "hello"), { recursive: true });
    chmodSync(join(this.cwd, "hello/greet.ts"), 0o755);
    // Whole microseconds, as times are set back: of what is finer a copy would have some, and be rounded up or down.
    for (const name of readdirSync(join(this.cwd, "hello")))
      utimesSync(join(this.cwd, "hello", name), 1_600_000_000.123456, 1_600_000_000.123456);
  }

  readonly galley = (...args: string[]): Promise<Outcome> => this.galleyIn("", ...args);

  galleyIn(directory: string, ...args: string[]): Promise<Outcome> {
    return run(process.execPath, [galleyBin, ...args], { env: this.env, cwd: join(this.cwd, directory) });
  }

  readonly json = async (...args: string[]) =>
    JSON.parse((await this.galley(...args, "--json")).stdout) as Record<string, never>;

  /** A run of the planner that leaves a preview. */
  async preview(pattern = "console.log($$$A)", out = "logger.debug($$$A)", ...options: string[]): Promise<Outcome> {
    const outcome = await this.galley(...options, "-p", `replace ${pattern} with ${out} in hello`);
    expect(outcome.stdout).toContain("Nothing is written yet");
    return outcome;
  }

  read(path: string): string {
    return readFileSync(join(this.cwd, path), "utf8");
  }

  state() {
    return readdirSync(join(this.cwd, "hello")).map((name) => {
      const path = join(this.cwd, "hello", name);
      const { mode, mtimeMs } = statSync(path);
      // A time in milliseconds is a double, exact to a quarter of a microsecond: finer figures differ after an undo.
      return { name, text: readFileSync(path, "utf8"), mode, modified: Math.round(mtimeMs) };
    });
  }
}
