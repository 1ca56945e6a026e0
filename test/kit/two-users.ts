// Tests that run as root do their work twice: as root, and as an ordinary user. Tests that run as a normal user can be no
// other. An ordinary user may be shut out of the checkout (root's own home), so it starts a copy of the built program.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { galleyBin, type Outcome, projectRoot, run } from "./run-galley.js";

const ordinaryId = 54_321;
const ordinary = "an ordinary user";

/** Whether every user of the machine may enter this directory. */
export function isOpenToAll(directory: string): boolean {
  for (let path = realpathSync(directory); ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Why no ordinary user can work here; undefined where one can, and where this is one. */
export const noOrdinaryUser = process.getuid?.() === 0 ? obstacle() : undefined;

export const users: readonly string[] =
  process.getuid?.() !== 0 ? ["this user"] : noOrdinaryUser === undefined ? ["root", ordinary] : ["root"];

function obstacle(): string | undefined {
  if (!isOpenToAll(dirname(realpathSync(process.execPath)))) return `${process.execPath} is closed to other users`;
  if (!process.env.GALLEY_TEST_OPEN) return "every place for temporary files is closed to other users";
  return undefined;
}

export interface ActingUser {
  readonly isOther: boolean;
  /** A program and its arguments, in a directory. */
  start(words: readonly string[], cwd: string): Promise<Outcome>;
  galley(args: readonly string[], cwd: string): Promise<Outcome>;
}

/** Everything below `top`, which `openDirectory` made, becomes this user's. */
export function actAs(user: string, { top, home }: { readonly top: string; readonly home: string }): ActingUser {
  const isOther = user === ordinary;
  if (isOther) execFileSync("chown", ["-R", "-h", `${ordinaryId}:${ordinaryId}`, top]);
  const env = { PATH: process.env.PATH, HOME: home, GALLEY_OFFLINE: "1" };
  const as = isOther ? ["setpriv", `--reuid=${ordinaryId}`, `--regid=${ordinaryId}`, "--clear-groups", "--"] : [];
  const start = (words: readonly string[], cwd: string) => {
    const [file = "", ...args] = [...as, ...words];
    return run(file, args, { cwd, env });
  };
  const bin = isOther ? openProgram() : galleyBin;
  return { isOther, start, galley: (args, cwd) => start([process.execPath, bin, ...args], cwd) };
}

/** Made by the first test that needs it, and kept until the run ends. */
function openProgram(): string {
  const place = join(`${process.env.GALLEY_TEST_OPEN}`, "program");
  const bin = join(place, "bin/galley.js");
  if (existsSync(bin)) return bin;
  const own = `${place}-${process.pid}`;
  for (const name of ["bin", "dist", "package.json", ...runtimePackages()])
    if (existsSync(join(projectRoot, name)))
      cpSync(join(projectRoot, name), join(own, name), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => path !== join(projectRoot, "dist/types"),
      });
  execFileSync("chmod", ["-R", "a+rX", own]); // the checkout may have been made with a strict umask
  try {
    renameSync(own, place);
  } catch {
    rmSync(own, { recursive: true }); // another test file was first
  }
  return bin;
}

/** As paths in the project. An optional one may not be installed. */
function runtimePackages(): string[] {
  const lock = JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages).flatMap(([path, { dev }]) => (path === "" || dev ? [] : [path]));
}
