// Imports what source files export, as they are now and not as they were built last.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** All exports of these files, whose paths are relative to the project. */
export async function importSource(...paths) {
  const directory = mkdtempSync(join(tmpdir(), "galley-source-"));
  try {
    const outfile = join(directory, "source.mjs");
    const contents = paths.map((path) => `export * from "./${path}";`).join("\n");
    const stdin = { contents, resolveDir: root, loader: "ts" };
    await build({ stdin, outfile, bundle: true, format: "esm", platform: "node", logLevel: "warning" });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
