// The export as one plain module, with what makes a session of a text.

import { pathToFileURL } from "node:url";
import { buildModule } from "../kit/build-module.mjs";

export async function buildExport(directory) {
  const contents = `
    export { exportHtml, exportPieces } from "./export-html.ts";
    export { sourceOf } from "./page.test-kit.ts";
    export { writeExport } from "./write.ts";`;
  const path = await buildModule(directory, { name: "html", contents, folder: "html" });
  return import(pathToFileURL(path).href);
}
