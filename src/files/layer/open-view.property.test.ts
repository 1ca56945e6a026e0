// Random commands in the view: what is collected, applied to a plain copy, leaves the tree that the same commands leave
// in another plain copy; and so do two commands that build on each other.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createStageView } from "./create-stage-view.js";
import {
  applyTo,
  copyOnly,
  noViews,
  plant,
  runIn,
  snapshot,
  stagedAfter,
  type Tree,
  viewOptions,
  viewTitle,
} from "./layer.test-kit.js";

const start: Tree = {
  a: "one\n",
  b: "two\n",
  "d/a": "three\n",
  "d/e/a": "four\n",
  "d/e/b": "five\n",
  l: "-> a",
  k: "-> d",
  "f/empty": null,
  "a b'c": "odd\n",
};

const paths = [
  "a",
  "b",
  "c",
  "d",
  "d/a",
  "d/b",
  "d/e",
  "d/e/a",
  "d/e/b",
  "f",
  "f/empty",
  "f/empty/x",
  "l",
  "k",
  "n/m/o",
  "a b'c",
];

const path = fc.constantFrom(...paths).map((name) => `'${name.replaceAll("'", "'\\''")}'`);
const word = fc.constantFrom("x", "y", "one", "three");
const mode = fc.constantFrom("700", "755", "640", "644", "600", "711");
/** Those that leave the owner in: the plain copy is changed by the same user. */
const directoryMode = fc.constantFrom("700", "755", "711");
const operation = fc.oneof(
  fc.tuple(path, word).map(([at, text]) => `echo ${text} > ${at}`),
  fc.tuple(path, word).map(([at, text]) => `echo ${text} >> ${at}`),
  path.map((at) => `rm -f ${at}`),
  path.map((at) => `rm -rf ${at}`),
  path.map((at) => `mkdir -p ${at}`),
  path.map((at) => `rmdir ${at}`),
  path.map((at) => `touch ${at}`),
  fc.tuple(path, mode).map(([at, bits]) => `test -L ${at} || test -d ${at} || chmod ${bits} ${at}`),
  fc.tuple(path, directoryMode).map(([at, bits]) => `test -L ${at} || chmod ${bits} ${at}`),
  fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `test -d ${from} || cp ${from} ${to}`),
  // Not into itself: what is copied then depends on the order of the names.
  path.map((from) => `cp -R ${from} copy`),
  fc.tuple(path, path).map(([from, to]) => `test -d ${to} || ln -sf ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `test -d ${from} || ln -f ${from} ${to}`),
  path.map((at) => `rm -rf ${at} && echo file > ${at}`),
  path.map((at) => `rm -rf ${at} && mkdir ${at} && echo new > ${at}/new`),
  path.map((at) => `rm -rf ${at} && ln -s nowhere ${at}`),
);
/** Names of one file are separate files after each command. */
const separate = `find . -type f -links +1 -exec sh -c 'cp -p "$1" .t && mv .t "$1"' x {} ';'`;
const command = fc
  .array(operation, { minLength: 1, maxLength: 8 })
  .map((all) => all.map((one) => `{ ${one}; } 2>/dev/null || :`).join("\n"));

describe.skipIf(noViews !== undefined)(`random commands in the view${viewTitle}`, () => {
  it.each(["overlay", "copy"] as const)(
    "V-9: leave the same tree as on a plain copy: %s",
    async (mechanism) => {
      const programs = mechanism === "copy" ? copyOnly() : {};
      await fc.assert(
        fc.asyncProperty(command, command, async (first, second) => {
          const place = temporaryDirectory();
          const [root, plain, applied] = ["project", "plain", "applied"].map((name) => join(place, name)) as [
            string,
            string,
            string,
          ];
          plant(root, start);
          for (const copy of [plain, applied]) cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
          const untouched = snapshot(root);
          const view = await createStageView({
            ...viewOptions({ root, agentDir: join(place, "agent") }),
            ignored: "plan",
            ...programs,
          });
          expect(view.mechanism).toBe(mechanism);
          try {
            let staged: ReturnType<typeof stagedAfter> = [];
            for (const text of [first, second]) {
              const open = await view.open(staged);
              try {
                runIn(open, root, text);
                execFileSync("sh", ["-c", text], { cwd: plain });
                const { effects, notStaged } = await open.collect();
                expect(notStaged).toEqual([]);
                applyTo(applied, effects, root);
                staged = stagedAfter(effects, staged);
              } finally {
                await open.release();
              }
              expect(snapshot(applied)).toEqual(snapshot(plain));
              execFileSync("sh", ["-c", separate], { cwd: plain });
            }
          } finally {
            await view.close();
          }
          expect(snapshot(root)).toEqual(untouched);
        }),
        { numRuns: Number(process.env.GALLEY_VIEW_RUNS ?? runs(24)) },
      );
    },
    600_000,
  );
});
