// The two sides of a file that a change wrote, found again for its diff: what was there is in the change's own record, what it
// left in the record of the next change, or on the disk.

import { contentHash } from "../base/file-type.js";
import type { ChangeWriter, OldContent, UndoFile, UndoRecord } from "../plans/change-writer.js";
import { type PlannedChange, typeMember } from "../plans/plan.js";

/** What a change left in a file; undefined when those bytes are no longer available. */
export type LeftBytes = (file: UndoFile) => Promise<Uint8Array | undefined>;

/** The next change found what the last one left, unless another program wrote in between; the disk has the newest. */
export function leftBytes(all: readonly UndoRecord[], changes: Pick<ChangeWriter, "look">): LeftBytes {
  const byPath = new Map<string, OldContent[]>();
  for (const { path, before } of all.flatMap(({ files }) => files))
    if (before) byPath.set(path, [...(byPath.get(path) ?? []), before]);
  const hashes = new Map<Uint8Array, string>();
  const hashOf = ({ type, bytes }: Pick<OldContent, "type" | "bytes">): string => {
    const hash = hashes.get(bytes) ?? contentHash(type, bytes);
    hashes.set(bytes, hash);
    return hash;
  };
  return async ({ path, afterHash, type }) => {
    if (afterHash === null || type === "directory") return new Uint8Array();
    const kept = byPath.get(path)?.find((old) => hashOf(old) === afterHash);
    if (kept) return kept.bytes;
    const now = await changes.look(path, afterHash).catch(() => undefined); // an unreadable file counts as unknown
    return now?.isAsLeft && hashOf(now) === afterHash ? now.bytes : undefined;
  };
}

/** What the change did, for its diff. */
export function forward(file: UndoFile, after: Uint8Array): PlannedChange {
  const before = file.before?.bytes ?? new Uint8Array();
  const old = { exists: file.before !== null, size: before.length, sha256: "", mode: file.before?.mode ?? 0 };
  const stamp = { path: file.shownPath, ...old, ...typeMember(file.before?.type) };
  const type = typeMember(file.kind === "delete" ? file.before?.type : file.type);
  const guard = file.protected ? { protected: true as const } : {};
  return { kind: file.kind, path: file.path, stamp, before, after, ...type, ...guard };
}
