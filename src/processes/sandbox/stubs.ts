// The empty directories on which missing protected directories are covered. The disk has them while a command runs; they
// are removed afterwards, and after a crash by the next galley that confines a command. Only empty directories are ever
// removed, so nothing is lost.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { groupOf } from "../process-table.js";

export class Stubs {
  readonly #records: string;
  readonly #record: string;
  /** How many commands need each of them now; those of other galleys are in their records. */
  readonly #uses = new Map<string, number>();

  /** `records`: a directory of our own. */
  constructor(records: string) {
    this.#records = records;
    this.#record = join(records, `${process.pid}-${groupOf(process.pid).startTime}.json`);
    mkdirSync(records, { recursive: true, mode: 0o700 });
    this.#removeOfOthers();
  }

  /** Of running commands, of all galleys with this agent directory. */
  inUse(): ReadonlySet<string> {
    return new Set([...this.#uses.keys(), ...this.#inUseElsewhere()]);
  }

  /** The inodes that they have now. Recorded first: a crash must leave none that is not on record. */
  make(paths: readonly string[]): ReadonlyMap<string, number> {
    for (const path of paths) this.#uses.set(path, (this.#uses.get(path) ?? 0) + 1);
    try {
      if (paths.length > 0) this.#write();
    } catch (error) {
      throw cannotKeep(this.#records, error);
    }
    const made = new Map<string, number>();
    for (const path of paths) {
      mkdirSync(path, { recursive: true });
      made.set(path, lstatSync(path).ino);
    }
    return made;
  }

  release(paths: Iterable<string>): void {
    const foreign = this.#inUseElsewhere();
    for (const path of paths) {
      const uses = (this.#uses.get(path) ?? 1) - 1;
      if (uses > 0) this.#uses.set(path, uses);
      else {
        this.#uses.delete(path);
        if (!foreign.has(path)) removeEmpty(path);
      }
    }
    this.#write();
  }

  #write(): void {
    if (this.#uses.size > 0) writeFileSync(this.#record, JSON.stringify([...this.#uses.keys()]), { mode: 0o600 });
    else rmSync(this.#record, { force: true });
  }

  #removeOfOthers(): void {
    const used = this.#inUseElsewhere();
    for (const { file, isAlive, paths } of this.#others()) {
      if (isAlive) continue;
      for (const path of paths) if (!used.has(path)) removeEmpty(path);
      rmSync(file, { force: true });
    }
  }

  #inUseElsewhere(): ReadonlySet<string> {
    return new Set(this.#others().flatMap(({ isAlive, paths }) => (isAlive ? paths : [])));
  }

  #others(): { readonly file: string; readonly isAlive: boolean; readonly paths: readonly string[] }[] {
    return readdirSync(this.#records)
      .map((name) => ({ name, file: join(this.#records, name) }))
      .filter(({ file }) => file !== this.#record)
      .map(({ name, file }) => {
        const [, pid, startTime] = /^(\d+)-(\d*)\.json$/.exec(name) ?? [];
        const isAlive = pid !== undefined && groupOf(Number(pid)).startTime === startTime && startTime !== "";
        return { file, isAlive, paths: readPaths(file) };
      });
  }
}

export function cannotKeep(directory: string, error: unknown): GalleyError {
  return new GalleyError("start_failed", `Nothing can be kept in ${directory}: ${messageOf(error)}. Nothing was run.`);
}

/** A record that was cut by the crash names nothing: its directories are found by the next command as they are. */
function readPaths(file: string): string[] {
  try {
    const paths: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(paths) ? paths.filter((path): path is string => typeof path === "string") : [];
  } catch {
    return [];
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    // Another program has put something there, or has removed it; or the disk is read-only by now.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR", "EROFS", "EACCES", "EBUSY"].includes(systemCode(error) ?? ""))
      throw error;
  }
}
