// Journals that are there now: of a process that was killed while it applied a change, or of one that is applying.

import { join } from "node:path";
import { systemCode } from "../base/errors.js";
import { ownDirectory } from "../base/home.js";
import { journalPaths, readJournal } from "./journal-file.js";
import { nodeChangeDisk } from "./node-change-disk.js";
import { stateOf } from "./records.js";

export interface LeftJournal {
  readonly path: string;
  /** The project; undefined where the journal does not say. */
  readonly root: string | undefined;
}

const maxProjects = 10_000;

/** Of all projects. Changes nothing. */
export async function leftJournals(agentDir: string): Promise<LeftJournal[]> {
  const all = join(ownDirectory(agentDir), "journal");
  const directories = await nodeChangeDisk.list(all, maxProjects).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return []; // nothing was ever applied
    throw error;
  });
  const paths = await Promise.all(
    directories
      .filter(({ kind }) => kind === "directory")
      .map(({ name }) => journalPaths(nodeChangeDisk, join(all, name))),
  );
  return Promise.all(paths.flat().map(async (path) => ({ path, root: await rootOf(path) })));
}

async function rootOf(path: string): Promise<string | undefined> {
  try {
    return stateOf((await readJournal(nodeChangeDisk, path)).records)?.begin.root;
  } catch {
    return undefined; // gone meanwhile, or damaged: recovery reports which
  }
}
