// Long text on a terminal goes through the user's pager, as git does it.

import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The text as it is: the caller has cleaned foreign text before it added colours. Resolves when the pager has ended. */
export async function printPaged(
  text: string,
  output: NodeJS.WriteStream = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const pager = output.isTTY ? pagerOf(env) : undefined;
  if (pager === undefined || !(await page(pager, text, env))) output.write(text);
}

/** Undefined: none is wanted, or there is none. */
export function pagerOf(env: NodeJS.ProcessEnv): string | undefined {
  const { PAGER, PATH = "" } = env;
  if (PAGER !== undefined) return PAGER === "" || PAGER === "cat" ? undefined : PAGER;
  return PATH.split(delimiter).some((directory) => isProgram(join(directory, "less"))) ? "less -FRX" : undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** False if it could not be started. A user who leaves it early has seen enough. */
function page(command: string, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, env, stdio: ["pipe", "inherit", "inherit"] });
    const stay = () => {}; // Ctrl-C is for the pager: it would be left without a program that waits for it
    process.on("SIGINT", stay);
    const end = (isShown: boolean) => {
      process.off("SIGINT", stay);
      resolve(isShown);
    };
    child.on("error", () => end(false));
    // The shell's word for a program that is not there.
    child.on("close", (code) => end(code !== 127));
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
