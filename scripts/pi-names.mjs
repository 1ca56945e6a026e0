// Writes src/extensions/compat/pi-names.json: what the modules of an installed pi export, as a running program sees it.
// `node scripts/pi-names.mjs DIRECTORY`, where DIRECTORY has pi in its node_modules; needs a Node that pi runs on.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("Usage: node scripts/pi-names.mjs DIRECTORY");
  process.exit(2);
}
const scope = "@earendil-works";
/** The parts of a module whose names we serve together. */
const parts = {
  "pi-coding-agent": [""],
  "pi-tui": [""],
  "pi-ai": ["", "/compat", "/oauth", "/providers/all"],
  "pi-agent-core": [""],
};
const manifest = join(directory, "node_modules", scope, "pi-coding-agent/package.json");
const names = { version: JSON.parse(readFileSync(manifest, "utf8")).version };
for (const [module, suffixes] of Object.entries(parts))
  names[module] = [...new Set(suffixes.flatMap((suffix) => exportsOf(`${scope}/${module}${suffix}`)))].sort().join(" ");
const file = fileURLToPath(new URL("../src/extensions/compat/pi-names.json", import.meta.url));
writeFileSync(file, `${JSON.stringify(names, null, 2)}\n`);

/** Asked in the directory, so that its own modules are found. */
function exportsOf(specifier) {
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(specifier)}))))`;
  const args = ["--input-type=module", "-e", script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8" }));
}
