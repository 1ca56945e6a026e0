// Around a whole run: the program is built before the first test, and tests have a temporary directory and a home of their own, and a run fails that leaves anything in
// either. So a test that forgets to clean up, or that writes to the user's home, is found at once.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "./run-galley.js";
import { isOpenToAll } from "./two-users.js";

let root: string | undefined;
/** For root alone: what an ordinary user works in. */
let open: string | undefined;

export function setup(): void {
  if (process.env.GALLEY_TEST_ROOT !== undefined) return; // each project of the configuration calls it
  if (process.env.GALLEY_TEST_QUICK !== "1") build();
  root = realpathSync(mkdtempSync(join(tmpdir(), "galley-test-")));
  for (const directory of places(root)) mkdirSync(directory);
  const [temporary, home] = places(root);
  const place = process.getuid?.() === 0 ? [tmpdir(), "/tmp", "/var/tmp"].find(isOpenToAll) : undefined;
  if (place !== undefined) open = realpathSync(mkdtempSync(join(place, "galley-test-open-")));
  if (open !== undefined) for (const directory of [join(open, "tmp"), open]) openToAll(directory);
  Object.assign(process.env, { GALLEY_TEST_ROOT: root, GALLEY_TEST_OPEN: open ?? "", TMPDIR: temporary, HOME: home });
}

function openToAll(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o755);
}

/** `npm ci` builds; this is for a tree where only the packages were copied. No test may meet half of it. */
function build(): void {
  if (existsSync(join(projectRoot, "dist/cli/main.js"))) return;
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: projectRoot, stdio: ["ignore", "ignore", "inherit"] });
}

export function teardown(): void {
  if (root === undefined) return;
  const watched = open === undefined ? places(root) : [...places(root), join(open, "tmp")];
  const left = watched.flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
  for (const directory of [root, open])
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  root = undefined;
  if (left.length === 0) return;
  process.exitCode = 1; // an error alone is printed and forgotten
  throw new Error(`Tests left files behind:\n${left.join("\n")}`);
}

function places(root: string): [temporary: string, home: string] {
  return [join(root, "tmp"), join(root, "home")];
}
