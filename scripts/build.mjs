// Builds dist/: the bundle with code splitting, the declarations, and the JSON Schema of every wire shape.
// The command schemas are also written beside their source, because the server checks frames against that
// plain data and so starts without loading a schema library.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
await writeSchemas();
await bundle();
declarations();

async function writeSchemas() {
  const outfile = join(dist, ".schema.mjs");
  await build({ ...common(), entryPoints: [join(root, "src/protocol/schema.ts")], outfile });
  const { protocolSchema, commandSchemas } = await import(pathToFileURL(outfile).href);
  writeFileSync(join(dist, "schema.json"), `${JSON.stringify(protocolSchema(version), null, 1)}\n`);
  writeFileSync(join(root, "src/protocol/command-schemas.json"), `${JSON.stringify(commandSchemas(), null, 1)}\n`);
  rmSync(outfile);
}

async function bundle() {
  const entry = (name) => join(root, "src", name);
  await build({
    ...common(),
    entryPoints: {
      cli: entry("cli/main.ts"),
      sdk: entry("sdk/index.ts"),
      protocol: entry("protocol/index.ts"),
      client: entry("client/index.ts"),
      testing: entry("testing/index.ts"),
    },
    splitting: true,
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
  });
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
    target: "node20.19",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "linked",
    sourcemap: false,
    mainFields: ["module", "main"],
    external: ["@ast-grep/napi"],
    define: { GALLEY_VERSION: JSON.stringify(version) },
    logLevel: "warning",
  };
}
