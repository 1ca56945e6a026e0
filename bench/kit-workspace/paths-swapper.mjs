// A thread that swaps: a directory for a link to another, a file for a link to another, and back, until it is told to
// stop. `shared` holds that word and the number of swaps.

import { mkdirSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { workerData } from "node:worker_threads";

const { root, outside, pile, shared } = workerData;
mkdirSync(pile);
let piled = 0;
const swaps = [
  [join(root, "dir"), outside],
  [join(root, "dir/sub"), join(outside, "sub")],
  [join(root, "file"), join(outside, "file")],
];
for (let round = 0; Atomics.load(shared, 0) === 0; round++) {
  const [path, target] = swaps[round % swaps.length];
  const aside = join(pile, "aside");
  renameSync(path, aside);
  until(() => symlinkSync(target, path));
  Atomics.add(shared, 1, 1);
  until(() => {
    unlinkSync(path);
    renameSync(aside, path);
  });

  /** The writer may have put a file or a directory of its own there; that goes to the pile, to be looked at later. */
  function until(deed) {
    for (;;)
      try {
        return deed();
      } catch (error) {
        try {
          if (error.code === "ENOENT") return renameSync(aside, path);
          renameSync(path, join(pile, String(piled++)));
        } catch {
          // gone or made again meanwhile: the next try shows
        }
      }
  }
}
