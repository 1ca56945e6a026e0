// What decides about trust, as one plain module, so that a run can use it without the rest of the program.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Answers the path of a module that exports what the fault runs use of it. */
export async function buildTrustModule(directory) {
  const outfile = join(directory, "trust.mjs");
  await build({
    stdin: {
      contents: `
        export { decideTrust } from "./trust.ts";
        export { saveTrust } from "./save-trust.ts";
        export { surveyProject } from "./trust-survey.ts";
        export { findConfigRoots } from "../../config/config-roots.ts";
        export { systemClock } from "../../base/clock.ts";`,
      resolveDir: join(root, "src/extensions/trust"),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    // The libraries in it were made for another kind of modules.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    outfile,
    logLevel: "warning",
  });
  return outfile;
}
