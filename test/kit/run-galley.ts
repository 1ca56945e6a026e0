// The real program, started as a user would: in its own home, without keys.

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "./temporary-directory.js";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));
export const galleyBin = join(projectRoot, "bin/galley.js");

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** An environment with an empty home, in which no local server is asked; `remove` takes it away again. */
export function emptyHome(): { home: string; env: NodeJS.ProcessEnv; remove: () => void } {
  const home = temporaryDirectory();
  const { PATH } = process.env;
  return {
    home,
    env: { PATH, HOME: home, GALLEY_OFFLINE: "1" },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

export function run(
  program: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; input?: string },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd ?? projectRoot, env: options.env, stdio: "pipe" });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => {}); // it may end before it has read everything
    child.stdin.end(options.input ?? "");
  });
}
