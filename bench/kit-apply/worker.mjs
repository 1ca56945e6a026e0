// A process that applies, or recovers, and kills itself right before the given changing call. What it was told to settle
// it says at once.

import { writeSync } from "node:fs";
import { opsIn, placesIn, sceneFrom } from "./real-scene.mjs";

const [module, directory, work, seed, stopAt, width] = process.argv.slice(2);
const journal = await import(module);
const tell = (text) => writeSync(1, `${text}\n`);

const steps = [
  "create",
  "mkdir",
  "rmdir",
  "link",
  "rename",
  "unlink",
  "append",
  "chown",
  "chmod",
  "utimes",
  "symlink",
  "chownLink",
  "touchLink",
  "chmodDirectory",
  "chownDirectory",
  "fsync",
  "truncate",
];
let done = 0;
const step = () => {
  if (++done === Number(stopAt)) process.kill(process.pid, "SIGKILL");
};
const counted = (target) =>
  Object.fromEntries(
    Object.entries(target).map(([name, value]) => {
      if (typeof value !== "function") return [name, value];
      const call = async (...args) => {
        if (steps.includes(name)) step();
        const result = await value.apply(target, args);
        return typeof result?.close === "function" ? counted(result) : result;
      };
      return [name, call];
    }),
  );

const directories = placesIn(directory);
const settle = async ({ result }) => {
  tell(result);
  return true;
};
const common = { disk: counted(journal.nodeChangeDisk), width: Number(width), settle };
tell("ready");
if (work === "apply") {
  const ops = opsIn(directory, sceneFrom(journal, Number(seed)));
  const set = { label: "L", sourceToolName: "t", by: "user", reason: "r", ops };
  await journal.applyChangeSet(
    { ...common, directories, txid: "0123456789abcdef".repeat(2), now: 1, keepsUndo: true },
    set,
  );
} else await journal.recoverChanges({ ...common, journalDir: directories.journalDir });
tell("done");
