// `export_html`: the session as one HTML page on the disk.

import type { Handler } from "../handler.js";

export const exportHtml: Handler<"export_html"> = async ({ session }, { outputPath }) => ({
  path: await session.exportToHtml(outputPath),
});
