// A session as one HTML page: on the disk, or in the workspace that the host brought. The code that makes pages is
// loaded with the first one.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import { absolutePath, displayPath } from "../files/paths/resolve-path.js";
import type { Workspace, WriteTarget } from "../files/workspace.js";
import { exportPieces } from "../html/export-html.js";
import {
  beginsAsExport,
  changedMeanwhile,
  exportName,
  notAnExport,
  typedPath,
  writeExport,
} from "../html/write-page.js";
import type { NamedPageSource } from "../record/page-source.js";

export interface ExportPageRequest {
  /** What the user or the host typed, which is the permission to write there. */
  readonly outputPath: string | undefined;
  readonly cwd: string;
  readonly home: string;
  /** The page goes through it by its rules, and the disk is not touched. */
  readonly hostWorkspace: Workspace | undefined;
  /** Removes known secrets. */
  readonly redact: (text: string) => string;
}

/** Returns the page's absolute path. */
export async function exportPage(source: NamedPageSource, request: ExportPageRequest): Promise<string> {
  const { cwd, home, hostWorkspace, redact } = request;
  const wanted = request.outputPath ?? exportName(source);
  const pieces = exportPieces(source, { redact });
  if (hostWorkspace) {
    const target = await hostWorkspace.resolve(wanted, "write");
    await writeThrough(hostWorkspace, target, pieces);
    return target.path;
  }
  const path = typedPath(absolutePath(wanted, { cwd, home }));
  await writeExport({ path, displayPath: displayPath(path, cwd), pieces });
  return path;
}

/** By the rules of `writeExport`: the owner's only, whole or not at all, and only an earlier export is replaced. */
async function writeThrough(workspace: Workspace, target: WriteTarget, pieces: AsyncIterable<string>): Promise<void> {
  const expected = target.kind === "absent" ? "absent" : await hashOfExport(workspace, target);
  const page: Buffer[] = [];
  for await (const piece of pieces) page.push(Buffer.from(piece));
  try {
    await workspace.writeFile(target, { bytes: Buffer.concat(page), expected, mode: 0o600 });
  } catch (error) {
    throw GalleyError.is(error, "file_changed") ? changedMeanwhile(target.displayPath) : error;
  }
}

async function hashOfExport(workspace: Workspace, { path, displayPath }: WriteTarget): Promise<string> {
  const target = await workspace.resolve(path, "read");
  const { sizeBytes } = await workspace.stat(target);
  const { bytes } = await workspace.readFile(target, { maxBytes: sizeBytes + 1 });
  if (!beginsAsExport(bytes)) throw notAnExport(displayPath);
  return sha256Of(bytes);
}
