// From a path to a changed file, shared by the tools that change text: the file is read under its lock, checked, and
// replaced only if it is still unchanged.

import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import type { Target, Workspace, WriteOutcome, WriteTarget } from "../../files/workspace.js";
import type { AppliedChanges } from "../../plans/change-writer.js";
import { type PlannedChange, stampOf } from "../../plans/plan.js";
import { sizeText } from "../output/text.js";
import type { SeenFiles } from "../seen-files.js";
import { changedSinceRead, type NotedFile, type Staging, stagedBelow } from "../staging.js";
import { toolFailure } from "../tool.js";
import { refuseGenerated } from "./generated-marker.js";

const maxFileBytes = 256 * 1024 * 1024;

export interface TextFileDeps {
  readonly workspace: Workspace;
  readonly seen: SeenFiles;
  readonly staging: Staging;
}

export interface OpenFile {
  readonly target: WriteTarget;
  /** Absent where there is no file yet. */
  readonly before?: { readonly bytes: Buffer; readonly hash: string };
}

/** To be called, and its result used, inside `workspace.exclusively`. */
export async function openText(
  { workspace, seen, staging }: TextFileDeps,
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
  refuseGenerated(bytes, displayPath);
  return { target, before: { bytes, hash: sha256Of(bytes) } };
}

export interface TextChange {
  readonly file: OpenFile;
  readonly after: Buffer;
}

/** With `all`, for every change: the new content waits for review, on top of what is staged already. */
export async function stageText(
  { workspace, seen, staging }: TextFileDeps,
  changes: readonly TextChange[],
  {
    label,
    sourceToolName,
    toolCallId,
    diff,
  }: { label: string; sourceToolName: string; toolCallId: string; diff?: string },
): Promise<string> {
  const planned = await planText(workspace, changes);
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

/** Several files at once, all or nothing; can be undone as one. To be called inside `workspace.exclusively`. */
export async function applyText(
  { workspace, seen, staging }: TextFileDeps,
  changes: readonly TextChange[],
  what: { label: string; sourceToolName: string },
): Promise<AppliedChanges> {
  const planned = await planText(workspace, changes);
  const applied = await staging.applyNow(planned, { ...what, reason: "", holdsFiles: true }).catch((error: unknown) => {
    if (!GalleyError.is(error, "stale_preview")) throw error;
    const { files = [] } = error.details as { files?: string[] };
    const { code, message } = changedSinceRead(files.join(", "));
    throw new GalleyError(code, `${message}\n\nNo file was changed.`, { cause: error });
  });
  for (const { file, after } of changes) seen.note(file.target.path, { bytes: after, isTruncated: false });
  return applied;
}

async function planText(workspace: Workspace, changes: readonly TextChange[]): Promise<PlannedChange[]> {
  const planned: PlannedChange[] = [];
  for (const { file, after } of changes) {
    const { path, displayPath } = file.target;
    const mode = file.before ? (await workspace.stat(await workspace.resolve(path, "read"))).mode : 0;
    const stamp = stampOf(displayPath, file.before && { bytes: file.before.bytes, mode });
    const kind = file.before ? "modify" : "create";
    planned.push({ kind, path, stamp, before: file.before?.bytes ?? new Uint8Array(), after });
  }
  return planned;
}

export function stagedText(id: string, paths: string): string {
  return `Staged as ${id} – not written yet: ${paths}`;
}

/**
 * Writes one file so that it can be undone: the old content is kept before the first byte is written, and dropped again
 * if the write fails. Not abortable, since it takes only milliseconds.
 */
export async function writeNoted(
  deps: TextFileDeps,
  { file, after }: TextChange,
  what: { label: string; sourceToolName: string },
): Promise<WriteOutcome> {
  const { staging } = deps;
  const noted = await notedFile(deps.workspace, { file, after });
  const forget = await staging.note({ ...what, files: [noted] });
  try {
    return await replaceText(deps, file, after);
  } catch (error) {
    await forget();
    throw error;
  } finally {
    await staging.wrote([noted.path]);
  }
}

async function notedFile(workspace: Workspace, { file, after }: TextChange): Promise<NotedFile> {
  const { path, displayPath } = file.target;
  const old = file.before && (await workspace.stat(await workspace.resolve(path, "read")));
  const before = file.before && old ? { bytes: file.before.bytes, mode: old.mode, mtimeMs: old.modifiedMs } : null;
  return { path, shownPath: displayPath, before, afterHash: sha256Of(after) };
}

async function replaceText(
  { workspace, seen }: TextFileDeps,
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
