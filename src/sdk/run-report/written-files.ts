// Which files a run wrote, in total: what was there before its first write against what is there at the end. It listens
// where everything that tools and plans write passes through.

import type { ChangeWriter } from "../../plans/change-writer.js";
import { diffOf } from "../../plans/diff/plan-diff.js";
import type { PlannedChange } from "../../plans/plan.js";
import type { FileChangeKind } from "../../protocol/pending.js";

export interface FileBefore {
  readonly path: string;
  readonly shownPath: string;
  readonly bytes: Uint8Array | null;
}

export interface WrittenFile {
  readonly path: string;
  readonly shownPath: string;
  readonly kind: FileChangeKind;
  /** Absent where the content before or after is not known. */
  readonly added?: number;
  readonly removed?: number;
}

/** What is kept of the files' former content, all together; beyond it a file has no figures. */
const maxKeptBytes = 64 * 1024 * 1024;

/** The same writer, which also tells what it is about to write. */
export function watchedWriter(writer: ChangeWriter, tell: (files: readonly FileBefore[]) => void): ChangeWriter {
  return {
    apply: async (changes, ...rest) => {
      const applied = await writer.apply(changes, ...rest);
      tell(changes.map(beforeOf));
      return applied;
    },
    note: async (change, session) => {
      const forget = await writer.note(change, session);
      tell(change.files.map(({ path, shownPath, before }) => ({ path, shownPath, bytes: before?.bytes ?? null })));
      return forget;
    },
    staleFiles: (seen) => writer.staleFiles(seen),
    recover: (session) => writer.recover(session),
    history: () => writer.history(),
    get historyLimit() {
      return writer.historyLimit;
    },
    look: (path, left) => writer.look(path, left),
    stamp: (path) => writer.stamp(path),
    claimId: (above) => writer.claimId?.(above),
    checkWritable: (path) => writer.checkWritable(path),
  };
}

function beforeOf({ path, stamp, before }: PlannedChange): FileBefore {
  return { path, shownPath: stamp.path, bytes: stamp.exists ? before : null };
}

export class WrittenFiles {
  readonly #first = new Map<string, FileBefore & { readonly isKept: boolean }>();
  #keptBytes = 0;

  readonly note = (files: readonly FileBefore[]): void => {
    for (const file of files) {
      if (this.#first.has(file.path)) continue;
      const size = file.bytes?.length ?? 0;
      const isKept = this.#keptBytes + size <= maxKeptBytes;
      if (isKept) this.#keptBytes += size;
      this.#first.set(file.path, { ...file, bytes: isKept ? file.bytes : file.bytes && new Uint8Array(), isKept });
    }
  };

  has(path: string): boolean {
    return this.#first.has(path);
  }

  /** In the order of the first write. `now` reads a file; null: there is none, undefined: it cannot be read. */
  async list(now: (path: string) => Promise<Uint8Array | null | undefined>): Promise<WrittenFile[]> {
    const listed: WrittenFile[] = [];
    for (const { path, shownPath, bytes, isKept } of this.#first.values()) {
      const after = await now(path);
      if (bytes === null && after === null) continue; // a write that failed, or a file that is gone again
      const kind = bytes === null ? "create" : after === null ? "delete" : "modify";
      const file = { path, shownPath, kind } as const;
      if (!isKept || after === undefined) {
        listed.push(file);
        continue;
      }
      const [before, then] = [bytes ?? new Uint8Array(), after ?? new Uint8Array()];
      if (kind === "modify" && Buffer.compare(before, then) === 0) continue; // as it was: a failed write, or undone
      const stamp = { path: shownPath, exists: bytes !== null, size: before.length, sha256: "", mode: 0 };
      const { added, removed } = await diffOf({ kind, path, stamp, before, after: then });
      listed.push({ ...file, added, removed });
    }
    return listed;
  }
}
