// Every block of TypeScript in the docs and the README compiles, strictly, against the declarations that are built: one
// run of the compiler for all of them.

import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { compileExamples, readPage } from "../kit/page-examples.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot } from "../kit/run-galley.js";

await ensureBuilt();

/** What the default export of a page's modules is: the page says it once, and the examples leave it out. */
const modules: Record<string, string> = {
  "docs/custom-tools.md": "CustomToolFactory",
  "docs/extensions.md": "ExtensionFactory",
};

/** Those that do not compile, the errors in order, and why that is right. */
const wrong: Record<string, readonly [why: string, errors: string]> = {
  "docs/custom-tools.md 2": ["answers a tool that is none, to show what is said", "TS2322"],
  "docs/custom-tools.md 3": ["lists tools that are none, to show what is said", "TS2739"],
  "docs/custom-tools.md 6": ["uses a helper of another agent, which has no types here", "TS18046 TS7006 TS7031"],
  "docs/custom-tools.md 14": ["imports drawing parts, which the package serves at run time alone", "TS2305 TS2305"],
  "docs/custom-tools.md 15": ["imports packages of another agent, which are not installed", "TS2307 TS2307"],
  "docs/custom-tools.md 16": ["imports a module of Bun, to show what is said", "TS2307"],
  "docs/extensions.md 19": ["imports a package of another agent, which is not installed", "TS2307"],
  "docs/extensions.md 13": ["uses a helper of another agent, which has no types here", "TS18046 TS7006 TS7031"],
  "docs/extensions.md 15": [
    "imports a drawing part, which the package serves at run time alone",
    "TS2305 TS7006 TS7006 TS7006 TS7006 TS7006 TS7006 TS7006 TS7006 TS7006 TS7006",
  ],
};

const pages = ["README.md", ...readdirSync(`${projectRoot}/docs`).map((name) => `docs/${name}`)];
const blocks = pages
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) =>
    [...readPage(page).matchAll(/```(?:ts|typescript)\b[^\n]*\n(.*?)```/gs)].map(([, code = ""], index) => {
      const type = modules[page];
      const typed = type ? code.replace(/^export default /m, `export const made: import("galley").${type} = `) : code;
      return { title: `${page} ${index + 1}`, code: `${typed}\nexport {};\n` };
    }),
  );

it("every block compiles, but for those that are wrong on purpose", () => {
  expect(blocks.length).toBeGreaterThan(60);
  const said = compileExamples(blocks.map((block) => ({ ...block, output: "" })));
  const found = new Map<string, string[]>();
  for (const [, number, code = "", text] of said.matchAll(/^example-(\d+)\.ts\S*: error (TS\d+): (.*)$/gm)) {
    const title = `${blocks[Number(number) - 1]?.title}`;
    found.set(title, [...(found.get(title) ?? []), title in wrong ? code : `${code}: ${text}`]);
  }
  const expected = Object.fromEntries(Object.entries(wrong).map(([title, [, errors]]) => [title, errors]));
  expect(Object.fromEntries([...found].map(([title, errors]) => [title, errors.join(" ")]))).toEqual(expected);
}, 120_000);
