// Builds dist/: the bundle with code splitting, the declarations, and the JSON Schema of every wire shape.
// The command schemas are also written beside their source, because the server checks frames against that
// plain data and so starts without loading a schema library.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { build, transform } from "esbuild";
import { bundledLicenses } from "./bundled-licenses.mjs";
import { lazyLibrary } from "./lazy-library.mjs";
import { bringLibraryTypes } from "./library-types.mjs";
import { findUnits, libraryFile, packUnits } from "./pack-program.mjs";
import { runPrint, runPrompts, runSession, runStart, runTerminal, runTools } from "./run-program.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const target = "node20.19";
const drawing = "@earendil-works/pi-tui";
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Everything that a bundle was made from. */
const bundledFiles = new Set();

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
// The model tables lie beside the bundles: a run reads one of them, and most starts none.
cpSync(join(root, "src/provider/catalog"), join(dist, "catalog"), { recursive: true });
await writeSchemas();
await bundleDoors();
await bundleClient();
await packProgram();
writeFileSync(join(dist, "LICENSES.txt"), bundledLicenses(bundledFiles, root));
declarations();

async function writeSchemas() {
  const outfile = join(dist, ".schema.mjs");
  await build({ ...common(), entryPoints: [join(root, "src/protocol/schema.ts")], outfile });
  const { protocolSchema, commandSchemas } = await import(pathToFileURL(outfile).href);
  writeFileSync(join(dist, "schema.json"), `${JSON.stringify(protocolSchema(version), null, 1)}\n`);
  writeFileSync(join(root, "src/protocol/command-schemas.json"), `${JSON.stringify(commandSchemas(), null, 1)}\n`);
  rmSync(outfile);
}

/** What other programs import. */
async function bundleDoors() {
  const { metafile } = await build({
    ...common(),
    metafile: true,
    entryPoints: Object.fromEntries(
      ["sdk", "protocol", "testing"].map((door) => [door, join(root, `src/${door}/index.ts`)]),
    ),
    absWorkingDir: root,
    splitting: true,
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    // Its build for Node is CommonJS, whose names an ES module cannot import lazily.
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
  });
  noteFiles(metafile);
}

function noteFiles({ inputs }) {
  for (const file of Object.keys(inputs)) bundledFiles.add(file);
}

/** Small, because hosts carry it along. */
async function bundleClient() {
  const entryPoints = { client: join(root, "src/client/index.ts") };
  await build({ ...common(), entryPoints, outdir: dist, minify: true });
}

/**
 * The program itself, made for a quick start: CommonJS, because Node's loader for ES modules alone takes a quarter of
 * the time from spawn to the first frame; our own code in few packs, because every file costs; and each library in a
 * file of its own, read when it is first used.
 */
async function packProgram() {
  const { target, define, external } = common();
  // Where a file lies is asked in another way in CommonJS, and by the code that needs it.
  const options = { target, external, define: { ...define, "import.meta.url": "undefined" } };
  const { units, libraries } = await findUnits(join(root, "src/cli/main.ts"), { root, options });
  mkdirSync(join(dist, "cli/lib"), { recursive: true });
  writeFileSync(join(dist, "cli/package.json"), '{ "type": "commonjs" }\n');
  for (const library of libraries) await writeLibrary(library);
  await writePacks(packUnits(units, undefined, "globalThis.galleyUnits?.push(id);"));
  const used = {
    start: await runStart(),
    session: await runSession(dist),
    tools: await runTools(dist),
    print: await runPrint(),
    terminal: await runTerminal(),
  };
  const packs = [
    { name: "main.js", ids: new Set(used.start) },
    { name: "run.js", ids: new Set(used.session) },
    { name: "tools.js", ids: new Set(used.tools) },
    { name: "terminal.js", ids: new Set(used.terminal) },
    { name: "rest.js", ids: new Set() },
  ];
  await writePacks(packUnits(units, packs));
  writeFileSync(join(dist, "cli/units.json"), JSON.stringify(unitNames(used, units), null, 1));
  // Of the first pack no more than a first prompt needs: every start takes in the whole cache.
  await runPrompts(dist, ["main.js"]);
  await runSession(dist, ["run.js"]);
  await runTools(dist, ["tools.js", ...[...libraries].map((library) => `${libraryFile(library)}.js`)]);
  cacheTable(join(dist, "cli/rest.js"));
  await runTerminal(["terminal.js", `${libraryFile(drawing)}.js`]);
  writeFileSync(join(dist, "cli/v8-version"), process.versions.v8); // the one whose caches these are
}

/** Which source files each kind of run evaluated, for the tests. */
function unitNames(used, units) {
  const named = (ids) => [...new Set(ids)].map((id) => units[id].name ?? units[id].external).sort();
  return Object.fromEntries(Object.entries(used).map(([kind, ids]) => [kind, named(ids)]));
}

/** Of a pack that no usual run needs: only where its units begin and end. */
function cacheTable(filename) {
  const source = readFileSync(filename, "latin1");
  const script = new Script(source, { filename });
  const pack = {};
  script.runInThisContext()(pack);
  pack.units();
  writeFileSync(`${filename}.${source.slice(2, 18)}.cache`, script.createCachedData());
}

async function writeLibrary(library) {
  const { outputFiles, metafile } = await build({
    ...common(),
    metafile: true,
    ...(library === drawing
      ? { ...lazyLibrary(library), outfile: join(dist, "cli/lib", `${libraryFile(library)}.js`) }
      : { entryPoints: { [libraryFile(library)]: library }, outdir: join(dist, "cli/lib") }),
    absWorkingDir: root,
    format: "cjs",
    minify: true,
    supported: { "dynamic-import": false },
    // An ES module that asks where it lies.
    define: { ...common().define, "import.meta.url": "importMetaUrl" },
    write: false,
  });
  noteFiles(metafile);
  const withUrl = (text) =>
    text.includes("importMetaUrl")
      ? `const importMetaUrl=require("node:url").pathToFileURL(__filename).href;${text}`
      : text;
  for (const { path, text } of outputFiles)
    if (path.endsWith(".js")) writeScript(path, withUrl(text));
    else writeFileSync(path, text);
}

async function writePacks(packs) {
  for (const [name, text] of packs) await writePack(name, text);
}

async function writePack(name, text) {
  const { code } = await transform(text, { format: "cjs", target, minify: true, legalComments: "none" });
  writeScript(join(dist, "cli", name), code);
}

/** As a function, because bin/galley.js runs the file as a script; with a digest, by which it knows the cache. */
function writeScript(filename, code) {
  const wrapped = asciiOf(`(function (exports, require, module, __filename, __dirname) {${code}})`);
  const digest = createHash("sha256").update(wrapped).digest("hex").slice(0, 16);
  writeFileSync(filename, `/*${digest}*/${wrapped}`);
}

/** One character beyond it, and Node holds the whole program at two bytes a character, which takes milliseconds. */
function asciiOf(text) {
  return text.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function declarations() {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.types.json"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status === 0) return bringLibraryTypes(join(dist, "types"), join(root, "node_modules"));
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(1);
}

function common() {
  return {
    bundle: true,
    format: "esm",
    platform: "node",
    target,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "linked",
    sourcemap: false,
    mainFields: ["module", "main"],
    // A program for other programs: jiti finds its own parts beside itself, and ast-grep is no JavaScript.
    external: ["@ast-grep/napi", "jiti"],
    define: { GALLEY_VERSION: JSON.stringify(version) },
    logLevel: "warning",
  };
}
