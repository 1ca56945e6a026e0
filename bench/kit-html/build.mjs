// The export as one plain module, with what makes a session of a text.

import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

export async function buildExport(directory) {
  const outfile = join(directory, "html.mjs");
  await build({
    stdin: {
      contents: `
        export { exportHtml, exportPieces } from "./export-html.ts";
        export { sourceOf } from "./page.test-kit.ts";
        export { writeExport } from "./write.ts";`,
      resolveDir: join(root, "src/html"),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outfile,
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile).href);
}
