// Around a whole run: tests have a temporary directory and a home of their own, and a run fails that leaves anything in
// either. So a test that forgets to clean up, or that writes to the user's home, is found at once.

import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root: string | undefined;

export function setup(): void {
  if (process.env.GALLEY_TEST_ROOT !== undefined) return; // each project of the configuration calls it
  root = realpathSync(mkdtempSync(join(tmpdir(), "galley-test-")));
  for (const directory of places(root)) mkdirSync(directory);
  const [temporary, home] = places(root);
  Object.assign(process.env, { GALLEY_TEST_ROOT: root, TMPDIR: temporary, HOME: home });
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
