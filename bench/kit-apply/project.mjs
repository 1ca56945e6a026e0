// A project on the real disk, for change sets that are applied in this process.

import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const width = 8;

/** A fresh project below `directory`. */
export function projectIn(directory, journal) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, "p"), { recursive: true });
  const home = realpathSync(directory);
  const directories = { root: join(home, "p"), journalDir: join(home, "journal"), undoDir: join(home, "undo") };
  mkdirSync(directories.journalDir);
  mkdirSync(directories.undoDir);
  const settle = async () => true;
  const context = { disk: journal.nodeChangeDisk, width, settle };
  return {
    root: directories.root,
    directories,
    apply(ops) {
      const set = { label: "L", sourceToolName: "t", by: "user", reason: "r", ops };
      const txid = randomBytes(16).toString("hex");
      return journal.applyChangeSet({ ...context, directories, txid, now: Date.now(), keepsUndo: true }, set);
    },
    recover: () => journal.recoverChanges({ ...context, journalDir: directories.journalDir }),
    leftOvers: () => [
      ...readdirSync(directories.journalDir),
      ...namesBelow(directories.root).filter((name) => /\.(new|old)$/.test(name)),
    ],
  };
}

export const namesBelow = (root) =>
  readdirSync(root, { recursive: true }).filter((name) => !statSync(join(root, name)).isDirectory());

export function filesBelow(root) {
  return Object.fromEntries(
    namesBelow(root)
      .sort()
      .map((name) => [
        name,
        `${(statSync(join(root, name)).mode & 0o7777).toString(8)} ${hashOf(readFileSync(join(root, name)))}`,
      ]),
  );
}

export const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");
