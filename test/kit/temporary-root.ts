// Around a whole run: the program is built before the first test, and tests have a temporary directory and a home of their own, and a run fails that leaves anything in
// either. So a test that forgets to clean up, or that writes to the user's home, is found at once.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "./run-galley.js";

let root: string | undefined;

export function setup(): void {
  if (process.env.GALLEY_TEST_ROOT !== undefined) return; // each project of the configuration calls it
  build();
  root = realpathSync(mkdtempSync(join(tmpdir(), "galley-test-")));
  for (const directory of places(root)) mkdirSync(directory);
  const [temporary, home] = places(root);
  Object.assign(process.env, { GALLEY_TEST_ROOT: root, TMPDIR: temporary, HOME: home });
}

/** `npm ci` builds; this is for a tree where only the packages were copied. No test may meet half of it. */
function build(): void {
  if (existsSync(join(projectRoot, "dist/cli/main.js"))) return;
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: projectRoot, stdio: ["ignore", "ignore", "inherit"] });
}

export function teardown(): void {
  if (root === undefined) return;
  const left = places(root).flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
  rmSync(root, { recursive: true, force: true });
  root = undefined;
  if (left.length === 0) return;
  process.exitCode = 1; // an error alone is printed and forgotten
  throw new Error(`Tests left files behind:\n${left.join("\n")}`);
}

function places(root: string): [temporary: string, home: string] {
  return [join(root, "tmp"), join(root, "home")];
}
