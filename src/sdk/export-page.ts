// A session as one HTML page on the disk. What makes pages is loaded with the first one.

import { exportPieces } from "../html/export-html.js";
import { exportName, writeExport } from "../html/write.js";
import type { KeptPageSource } from "../session/page-source.js";
import type { Workspace } from "../workspace/workspace.js";

/** Where it may be is for the workspace to say. Answers its absolute path. */
export async function exportPage(
  source: KeptPageSource,
  outputPath: string | undefined,
  workspace: Workspace,
): Promise<string> {
  const { path, displayPath } = await workspace.resolve(outputPath ?? exportName(source), "write");
  await writeExport({ path, displayPath, pieces: exportPieces(source) });
  return path;
}
