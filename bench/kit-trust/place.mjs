// A home and a repository in it, on the disk, for the tests and runs about trust.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export function makePlace(parent = tmpdir()) {
  const base = realpathSync(mkdtempSync(join(parent, "galley-trust-")));
  const home = join(base, "home");
  const repo = join(home, "repo");
  mkdirSync(join(repo, ".git"), { recursive: true });
  return { base, home, repo, write: (files) => writeBelow(base, files), remove: () => remove(base) };
}

/** A text of `-> x` makes a link to x, one that begins with `#!` a program. */
export function writeBelow(base, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(base, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
    else {
      writeFileSync(path, text);
      chmodSync(path, text.startsWith("#!") ? 0o755 : 0o644);
    }
  }
}

function remove(base) {
  rmSync(base, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 });
}
