// Builds dist/: the bundle with code splitting, the declarations, and the JSON Schema of every wire shape.
// The command schemas are also written beside their source, because the server checks frames against that
// plain data and so starts without loading a schema library.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const target = "node20.19";
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
await writeSchemas();
await bundleDoors();
await bundleClient();
await bundleProgram();
warmCache();
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
  await build({
    ...common(),
    entryPoints: Object.fromEntries(
      ["sdk", "protocol", "testing"].map((door) => [door, join(root, `src/${door}/index.ts`)]),
    ),
    splitting: true,
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    // Its build for Node is CommonJS, whose names an ES module cannot import lazily.
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
  });
}

/** Small, because hosts carry it along. */
async function bundleClient() {
  const entryPoints = { client: join(root, "src/client/index.ts") };
  await build({ ...common(), entryPoints, outdir: dist, minify: true });
}

/**
 * The program itself, made for a quick start: CommonJS, because Node's loader for ES modules alone takes a quarter of
 * the time from spawn to the first frame; all our own code in one file, because every file costs; and each library in
 * a file of its own, read when it is first used.
 */
async function bundleProgram() {
  const libraries = new Set();
  // import() as require: the ES module loader would be started for it otherwise, even for a module of Node's own.
  const program = {
    ...common(),
    format: "cjs",
    minify: true,
    supported: { "dynamic-import": false },
    // Where a file lies is asked in another way in CommonJS, and by the code that needs it.
    define: { ...common().define, "import.meta.url": "undefined" },
  };
  const separateLibraries = {
    name: "separate-libraries",
    setup: (build) =>
      build.onResolve({ filter: /^(?:@sinclair\/|[a-z])/, namespace: "file" }, ({ path, kind }) => {
        if (kind === "entry-point" || path.startsWith("node:") || path === "jiti") return undefined;
        libraries.add(path);
        return { path: `./lib/${path.replaceAll("/", "-")}.js`, external: true };
      }),
  };
  await build({
    ...program,
    entryPoints: [join(root, "src/cli/main.ts")],
    outfile: join(dist, "cli/main.js"),
    plugins: [separateLibraries],
    // As a function, because bin/galley.js runs the file as a script.
    banner: { js: "(function (exports, require, module, __filename, __dirname) {" },
    footer: { js: "})" },
  });
  keepToAscii(join(dist, "cli/main.js"));
  writeFileSync(join(dist, "cli/package.json"), '{ "type": "commonjs" }\n');
  for (const library of libraries)
    await build({
      ...program,
      entryPoints: { [library.replaceAll("/", "-")]: library },
      outdir: join(dist, "cli/lib"),
      absWorkingDir: root,
    });
}

/** One character beyond it, and Node holds the whole program at two bytes a character, which takes milliseconds. */
function keepToAscii(path) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  writeFileSync(path, readFileSync(path, "utf8").replace(/[^\0-\x7f]/g, escaped));
}

/** A session of a few commands, so that the cache holds the functions a start really uses. */
function warmCache() {
  const home = mkdtempSync(join(tmpdir(), "galley-build-"));
  const input = ['{"type":"get_state"}', '{"type":"prompt","message":"help"}', '{"type":"get_messages"}', ""].join(
    "\n",
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, "scripts/warm-cache.cjs"), join(dist, "cli/main.js"), "--mode", "rpc"],
    { cwd: root, input, encoding: "utf8", env: { PATH: process.env.PATH, HOME: home } },
  );
  rmSync(home, { recursive: true });
  if (status !== 0) throw new Error(`The built program does not run: ${stderr}`);
}

function declarations() {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.types.json"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status === 0) return;
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
