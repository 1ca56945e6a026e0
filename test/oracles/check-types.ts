// Holds JSON against a type of a vendor's package: written into a TypeScript file as a literal, so that unknown fields
// are refused too, and read by the compiler.

import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const packages = join(projectRoot, "test/oracles/node_modules");

/** Whether the vendors' packages are installed. Tests that need them are skipped without. */
export const hasOracles = existsSync(packages);
export const whyNoOracles = "needs the vendors' packages: npm ci --prefix test/oracles";

export interface TypedBody {
  /** As in an import. */
  readonly module: string;
  /** A type that the module exports. */
  readonly type: string;
  readonly body: unknown;
}

/** What the compiler says about all of them; empty when every body has its type. */
export function checkTypes(bodies: readonly TypedBody[]): string {
  return compile(
    bodies.map(
      ({ module, type, body }, index) =>
        `import type * as module${index} from ${JSON.stringify(module)};\n` +
        `export const body${index}: module${index}.${type} = ${JSON.stringify(body, null, 1)};\n`,
    ),
  );
}

/** The same for source text, which may import the vendors' packages and galley's own source as `galley-source/…`. */
export function compile(sources: readonly string[]): string {
  const home = temporaryDirectory();
  symlinkSync(packages, join(home, "node_modules"));
  for (const [index, source] of sources.entries()) writeFileSync(join(home, `source-${index}.ts`), source);
  const options = {
    compilerOptions: {
      ...{
        strict: true,
        target: "es2022",
        lib: ["es2023", "dom", "dom.asynciterable"],
        module: "esnext",
        moduleResolution: "bundler",
        noEmit: true,
      },
      ...{ skipLibCheck: true, types: ["node"], typeRoots: [join(projectRoot, "node_modules/@types")] },
      paths: { "galley-source/*": [join(projectRoot, "src/*")] },
    },
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(options));
  const tsc = join(projectRoot, "node_modules/.bin/tsc");
  const { stdout, status, error } = spawnSync(tsc, ["-p", "."], { cwd: home, encoding: "utf8" });
  if (error) throw error;
  return status === 0 ? "" : stdout || `tsc ended with ${status}`;
}
