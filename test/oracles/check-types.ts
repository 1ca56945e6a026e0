// The compiler's word on source text that uses the vendors' packages. A body of a request, written as a literal with its
// type, is held against it: unknown fields are refused too.

import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const packages = join(projectRoot, "test/oracles/node_modules");

/** What it says; empty when nothing is wrong. The text may also import galley's own source, as `galley-source/…`. */
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
