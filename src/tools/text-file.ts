// The way from a path to a changed file, shared by the tools that change text: what is there is read under the file's
// lock, guarded, and replaced only if it is still that.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import { type PlannedChange, stampOf } from "../preview/plan.js";
import type { Target, Workspace, WriteOutcome, WriteTarget } from "../workspace/workspace.js";
import { refuseGenerated } from "./generated-marker.js";
import { sizeText } from "./output-text.js";
import type { SeenFiles } from "./seen-files.js";
import { changedSinceRead, type NotedFile, type Staging, stagedBelow } from "./staging.js";
import { toolFailure } from "./tool.js";

const maxFileBytes = 256 * 1024 * 1024;

export interface TextFileParts {
  readonly workspace: Workspace;
  readonly seen: SeenFiles;
  readonly staging: Staging;
  /** Files that say they are generated may be changed. */
  readonly allowGenerated?: boolean | undefined;
}

export interface OpenFile {
  readonly target: WriteTarget;
  /** Absent where there is no file yet. */
  readonly before?: { readonly bytes: Buffer; readonly hash: string };
}

/** To be called, and its result used, inside `workspace.exclusively`. */
export async function openText(
  { workspace, seen, staging, allowGenerated = false }: TextFileParts,
  checked: { input: string; target: WriteTarget },
  signal: AbortSignal | undefined,
): Promise<OpenFile> {
  const readable = await existing(workspace, checked.target);
  // While the call waited for its turn, another may have put a new file there or taken it away.
  const isSame = readable?.identity === checked.target.identity || staging.staged(checked.target.path).length > 0;
  const target = isSame ? checked.target : await workspace.resolve(checked.input, "write");
  if (!readable) return { target };
  const file = await workspace.readFile(readable, { maxBytes: maxFileBytes, signal });
  const { displayPath } = target;
  if (file.isTruncated) throw toolFailure(`Cannot modify ${displayPath}: it is larger than ${sizeText(maxFileBytes)}.`);
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
  if (seen.hasChanged(target.path, bytes)) throw changedSinceRead(displayPath);
  if (!allowGenerated) refuseGenerated(bytes, displayPath);
  return { target, before: { bytes, hash: sha256Of(bytes) } };
}

export interface TextChange {
  readonly file: OpenFile;
  readonly after: Buffer;
}

/** With `all`, the way of every change: what it would become waits for review, on top of what already does. */
export async function stageText(
  { workspace, seen, staging }: TextFileParts,
  changes: readonly TextChange[],
  {
    label,
    sourceToolName,
    toolCallId,
    diff,
  }: { label: string; sourceToolName: string; toolCallId: string; diff?: string },
): Promise<string> {
  const planned: PlannedChange[] = [];
  for (const { file, after } of changes) {
    const { path, displayPath } = file.target;
    const mode = file.before ? (await workspace.stat(await workspace.resolve(path, "read"))).mode : 0;
    const stamp = stampOf(displayPath, file.before && { bytes: file.before.bytes, mode });
    const kind = file.before ? "modify" : "create";
    planned.push({ kind, path, stamp, before: file.before?.bytes ?? new Uint8Array(), after });
  }
  const paths = changes.map(({ file }) => file.target.displayPath).join(", ");
  const id = await staging.stage({
    label,
    sourceToolName,
    toolCallId,
    isForReview: true,
    dependsOn: stagedBelow(staging, planned),
    ...(diff === undefined ? {} : { preview: { diff } }),
    work: { kind: "plan", plan: { changes: planned, applied: { text: `Wrote ${paths}.` } } },
  });
  for (const { file, after } of changes) seen.note(file.target.path, { bytes: after, isTruncated: false });
  return id;
}

export function stagedText(id: string, paths: string): string {
  return `Staged as ${id} – not written yet: ${paths}`;
}

/**
 * Writes with undo in mind: what is replaced is kept before the first byte is written, and forgotten again for whatever
 * was not. `write` tells after each file that it is done.
 */
export async function writeNoted<T>(
  parts: TextFileParts,
  changes: readonly TextChange[],
  { write, ...what }: { label: string; sourceToolName: string; write: (done: () => void) => Promise<T> },
): Promise<T> {
  const { staging } = parts;
  const files = await notedFiles(parts, changes);
  const forget = await staging.note({ ...what, files });
  let written = 0;
  try {
    return await write(() => written++);
  } catch (error) {
    await forget();
    if (written > 0) await staging.note({ ...what, files: files.slice(0, written) });
    throw error;
  } finally {
    await staging.wrote(files.map(({ path }) => path));
  }
}

async function notedFiles({ workspace }: TextFileParts, changes: readonly TextChange[]): Promise<NotedFile[]> {
  const files: NotedFile[] = [];
  for (const { file, after } of changes) {
    const { path, displayPath } = file.target;
    const old = file.before && (await workspace.stat(await workspace.resolve(path, "read")));
    const before = file.before && old ? { bytes: file.before.bytes, mode: old.mode, mtimeMs: old.modifiedMs } : null;
    files.push({ path, shownPath: displayPath, before, afterHash: sha256Of(after) });
  }
  return files;
}

/** Not abortable: what is begun here takes milliseconds, and half of several files would be worse than a late stop. */
export async function replaceText(
  { workspace, seen }: TextFileParts,
  { target, before }: OpenFile,
  after: Buffer,
): Promise<WriteOutcome> {
  const expected = before?.hash ?? "absent";
  const outcome = await workspace.writeFile(target, { bytes: after, expected }).catch((error: unknown) => {
    throw GalleyError.is(error, "file_changed") ? changedSinceRead(target.displayPath, error) : error;
  });
  seen.note(target.path, { bytes: after, isTruncated: false });
  return outcome;
}

async function existing(workspace: Workspace, target: WriteTarget): Promise<Target | undefined> {
  try {
    // By the canonical path, and as a reader: what must not be read must not come out in a diff or a closest match.
    return await workspace.resolve(target.path, "read");
  } catch (error) {
    if (GalleyError.is(error, "not_found")) return undefined;
    throw error;
  }
}
