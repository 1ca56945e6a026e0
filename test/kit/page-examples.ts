// The examples of a page for programs: each block of TypeScript with the block of output below it. They are compiled
// against the declarations of the package and run on plain Node, each in a directory and a home of its own.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { type Outcome, projectRoot, run } from "./run-galley.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface PageExample {
  readonly title: string;
  readonly code: string;
  readonly output: string;
}

/** Throws for a block of code that has no output below it: it would not be run. */
export function pageExamples(text: string): PageExample[] {
  const found = [...text.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)];
  if (text.match(/```(ts|js|text)$/gm)?.length !== 2 * found.length) throw new Error("A block of code has no output");
  return found.map(([, code = "", output = ""], index) => {
    const heading =
      text
        .slice(0, found[index]?.index)
        .match(/^#+ .*$/gm)
        ?.at(-1) ?? "";
    return { title: `${index + 1}: ${heading.replace(/^#+ /, "")}`, code, output };
  });
}

export async function runExample({ code }: PageExample, files: Record<string, string>): Promise<Outcome> {
  const home = directoryWithGalley();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  writeFileSync(join(home, "example.mjs"), transformSync(code, { loader: "ts" }).code);
  const { PATH } = process.env;
  return run(process.execPath, ["example.mjs"], { env: { PATH, HOME: home, GALLEY_OFFLINE: "1" }, cwd: home });
}

/** What the compiler says about all of them; empty when nothing is wrong. */
export function compileExamples(examples: readonly PageExample[]): string {
  const home = directoryWithGalley();
  writeFileSync(join(home, "package.json"), '{ "type": "module" }\n');
  // The examples name libraries that their reader has installed.
  for (const name of ["@sinclair", "typebox", "zod"])
    symlinkSync(join(projectRoot, "node_modules", name), join(home, "node_modules", name));
  for (const [index, { code }] of examples.entries()) writeFileSync(join(home, `example-${index + 1}.ts`), code);
  const options = {
    compilerOptions: {
      ...{ strict: true, target: "es2022", module: "node16", moduleResolution: "node16", noEmit: true },
      ...{ skipLibCheck: true, types: ["node"], typeRoots: [join(projectRoot, "node_modules/@types")] },
    },
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(options));
  const { stdout } = spawnSync(join(projectRoot, "node_modules/.bin/tsc"), ["-p", "."], {
    cwd: home,
    encoding: "utf8",
  });
  return stdout;
}

export function readPage(path: string): string {
  return readFileSync(join(projectRoot, path), "utf8");
}

/** The first cells of all tables below a heading, as the names in backticks that they hold. */
export function namesInTables(page: string, heading: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const rows = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, cell = ""]) => cell);
  return rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

function directoryWithGalley(): string {
  const home = temporaryDirectory();
  mkdirSync(join(home, "node_modules"));
  symlinkSync(projectRoot, join(home, "node_modules/galley"));
  return home;
}
