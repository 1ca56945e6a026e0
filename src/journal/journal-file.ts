// One journal on the disk: create, append records, read back, remove. A record counts once its fsync has returned.

import { dirname, join } from "node:path";
import { GalleyError } from "../base/errors.js";
import { failingFor, ignoring } from "./apply-failures.js";
import type { ChangeDisk, GrowingFile } from "./change-set.js";
import { decodeRecords, encodeRecord, type JournalRecord } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

export const journalEnding = ".gj";
const maxJournalBytes = 256 * 1024 * 1024;
const maxJournals = 10_000;

export class JournalFile {
  readonly path: string;
  readonly #deps: SerialStepContext;
  readonly #file: GrowingFile;
  #soundBytes: number;
  /** Why nothing more can be written. */
  #damage: unknown;

  private constructor(
    deps: SerialStepContext,
    path: string,
    { file, soundBytes }: { file: GrowingFile; soundBytes: number },
  ) {
    this.#deps = deps;
    this.path = path;
    this.#file = file;
    this.#soundBytes = soundBytes;
  }

  /** The file exists when this resolves; it is durable after the first `append` and `syncName`. */
  static create(deps: SerialStepContext, path: string): Promise<JournalFile> {
    return failing(async () => {
      const pinned = await deps.pins.of(path);
      const made = await deps.disk.create(pinned, 0o600);
      try {
        await made.close();
        return new JournalFile(deps, path, { file: await deps.disk.openAppend(pinned), soundBytes: 0 });
      } catch (error) {
        await deps.disk.unlink(pinned).catch(() => {}); // recovery removes an empty journal
        throw error;
      }
    });
  }

  /** Opens the journal of a dead process, cuts it after its last valid record and makes the rest durable. */
  static reopen(deps: SerialStepContext, path: string, soundBytes: number): Promise<JournalFile> {
    return failing(async () => {
      const file = await deps.disk.openAppend(await deps.pins.of(path));
      try {
        await file.truncate(soundBytes);
        // The other process may have died before its fsync. A power failure could then remove a record that we acted
        // on, or bring back one that we cut off, and leave a mix of old and new files.
        await file.fsync();
      } catch (error) {
        await file.close();
        throw error;
      }
      return new JournalFile(deps, path, { file, soundBytes });
    });
  }

  append(record: JournalRecord): Promise<void> {
    return failing(async () => {
      if (this.#damage) throw this.#damage;
      const bytes = encodeRecord(record);
      try {
        await this.#file.append(bytes);
        await this.#file.fsync();
      } catch (error) {
        // Half a line would hide the records after it. If it cannot be cut off, nothing more is written.
        await this.#file.truncate(this.#soundBytes).catch(() => {
          this.#damage = error;
        });
        throw error;
      }
      this.#soundBytes += bytes.length;
    });
  }

  syncName(): Promise<void> {
    return failing(() => this.#deps.pins.sync([dirname(this.path)]));
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => {}); // every record that counts was synced
  }

  async remove(): Promise<void> {
    await failing(async () => this.#deps.disk.unlink(await this.#deps.pins.of(this.path)));
    await this.syncName();
  }
}

function failing<T>(work: () => Promise<T>): Promise<T> {
  return failingFor("the journal", work);
}

/** The journals of a root, in a fixed order. */
export async function journalPaths(disk: ChangeDisk, journalDir: string): Promise<string[]> {
  const directory = await disk.realpath(journalDir).catch(ignoring("ENOENT"));
  if (directory === undefined) return []; // nothing was ever applied here
  const entries = await disk.list(directory, maxJournals);
  const names = entries.filter(({ kind, name }) => kind === "file" && name.endsWith(journalEnding));
  return names.map(({ name }) => join(directory, name)).sort();
}

export async function readJournal(disk: ChangeDisk, path: string): Promise<{ records: unknown[]; soundBytes: number }> {
  const { identity } = await disk.lstat(path);
  const read = await disk.read(path, identity, { maxBytes: maxJournalBytes });
  // A journal that looks empty would be removed, so a short read must fail.
  if (!read || read.isTruncated) throw new GalleyError("unsupported", `${path} cannot be read in full`);
  return decodeRecords(read.bytes);
}
