// ripgrep's order and the order of paths differ where a name goes on after the name of a directory.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createOrderTest } from "./grep-order.js";

const name = fc.constantFrom("a", "a-b", "a.b", "a!", "a b", "a0", "b", "b.a", "a\u{ff5e}", "a\u{1f600}", "ab");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

/** Those that can be made: no name is both a file and a directory. */
function plant(paths: readonly string[]): { root: string; files: string[] } {
  const root = temporaryDirectory();
  const files = paths.filter((each) => {
    try {
      mkdirSync(dirname(join(root, each)), { recursive: true });
      writeFileSync(join(root, each), "");
      return true;
    } catch {
      return false;
    }
  });
  return { root, files };
}

/** Directory by directory, by the bytes of the names. */
function asReported(files: readonly string[]): string[] {
  const keyOf = (file: string) => file.split("/").map((each) => Buffer.from(each));
  return files.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    const depth = a.findIndex((each, index) => !each.equals(b[index] ?? Buffer.alloc(0)));
    return Buffer.compare(a[depth] ?? Buffer.alloc(0), b[depth] ?? Buffer.alloc(0));
  });
}

it("stops only when the first are known, and soon where no name is out of order", () => {
  let stoppedEarly = 0;
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (paths, wanted) => {
        const { root, files } = plant(paths);
        const isFinal = createOrderTest(root);
        const reported = asReported(files);
        const seen: string[] = [];
        for (const file of reported) {
          seen.push(file);
          const first = seen.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, wanted);
          if (first.length < wanted || !isFinal(first.at(-1) as string, file)) continue;
          if (seen.length < reported.length) stoppedEarly++;
          expect(first).toEqual(files.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, wanted));
          return;
        }
      },
    ),
    { numRuns: runs(300) },
  );
  expect(stoppedEarly).toBeGreaterThan(runs(300) / 3);
});

it("waits for what comes before, and no longer", () => {
  const { root } = plant(["a/1", "a/2", "a-b/1", "a-b/2", "c"]);
  const isFinal = createOrderTest(root);
  expect(["a/2", "a-b/1", "a-b/2", "c"].map((seen) => isFinal("a/1", seen))).toEqual([false, false, false, true]);
  expect(isFinal("a-b/1", "a-b/1")).toBe(true);
});
