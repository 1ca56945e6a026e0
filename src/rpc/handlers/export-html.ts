// `export_html`: the session as one HTML page on the disk. What makes pages is loaded with the first one.

import { GalleyError } from "../../base/errors.js";
import type { Handler } from "../handler.js";

export const exportHtml: Handler<"export_html"> = async ({ session }, { outputPath }) => {
  const { sessionId, sessionFile } = session;
  if (sessionFile === undefined) throw new GalleyError("unsupported", "Cannot export in-memory session to HTML");
  const { exportPieces } = await import("../../html/export-html.js");
  const { exportName, writeExport } = await import("../../html/write.js");
  const target = await session.resolveWrite(outputPath ?? exportName({ sessionId, sessionFile }));
  const { path, displayPath } = target;
  await writeExport({ path, displayPath, pieces: exportPieces(session.exportSource) });
  return { path };
};
