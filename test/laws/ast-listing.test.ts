// Whether a directory is listed by ripgrep or walked, the ast tools must say the same about it.

import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.js";
import { createNodeWorkspace } from "../../src/files/node-workspace.js";
import type { Workspace } from "../../src/files/workspace.js";
import { createNodeProcesses } from "../../src/processes/node-processes.js";
import { languageOf } from "../../src/tools/ast/languages.js";
import { createPrefilter } from "../../src/tools/ast/ripgrep-prefilter.js";
import { createAstEdit } from "../../src/tools/ast-edit.js";
import { createAstGrep } from "../../src/tools/ast-grep.js";
import type { RipgrepDeps } from "../../src/tools/search/ripgrep.js";
import { toolDeps } from "../../src/tools/tools.test-kit.js";
import { runs } from "../kit/runs.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const processes = createNodeProcesses({ env: process.env, log: silentLog });
afterAll(() => processes.shutdown());

const isRoot = process.getuid?.() === 0; // nothing is unreadable to it
const temporary = `.f.ts.${"0".repeat(32)}-1.new`;

const directory = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "dist") },
  { weight: 1, arbitrary: fc.constantFrom("sub", ".h", "node_modules", ".git", "na me", "é", "x.ts", "b+") },
);
const fileName = fc.constantFrom(
  ...["f.ts", "g.ts", "G.JS", "h.json", "k.mjs", ".ts", "m.txt", "no-ending", ".env.ts", "id_x.ts", "new\nline.ts"],
  ...["f-g.ts", "ü.css", "gone.RB", temporary],
);
const content = fc.constantFrom<string | Buffer>(
  ...["call(1);\n", "other();\n", "call(\n", "x();\r\ncall(2);\r\n", "", "// call\n", "recall(3)\n", "call(4)\0"],
  ...["-----BEGIN OPENSSH PRIVATE KEY-----\n", "PuTTY-User-Key-File-2: x\n", Buffer.from([0x63, 0xe9, 0x0a])],
  Buffer.from([...Buffer.from("call(5)"), 0xe9, 0x0a]),
);
const line = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("dist", "dist/", "/dist", "a/b", "a/*", "**/b", "/b/", "a/**/dist") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("!dist", "!dist/", "!/dist", "!a/b", "!b", "!*", "!f.ts", "!*.json", "!**/b/"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...["b+", "*.json", "{a,b}", "{f,g}.ts", "é", "f.t[sx]", "[ab]", "# c", "\\!x", " ", "na me", "*", "dist/ "],
      ...["?.ts", "??", "x.ts/", "", ".gitignore", "..", "/", "!", "*/f.ts", "***"],
    ),
  },
);
const place = fc.array(directory, { maxLength: 3 });
const rulesPlace = fc.oneof(fc.constant<string[]>([]), place);
const rules = fc
  .array(line, { minLength: 1, maxLength: 3 })
  .chain((lines) => fc.constantFrom("\n", "\r\n").map((end) => lines.join(end)));
const file = fc.record({ place, name: fileName, content });
const entry = fc.oneof(
  { weight: 8, arbitrary: file.map((made) => ({ kind: "file" as const, ...made })) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rules" as const), place: rulesPlace, text: rules }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("directory" as const), place }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("link" as const, "hard link" as const), place, name: fileName }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("linked rules" as const), place }) },
);
const odd = fc.constantFrom("nothing", "name", "directory name", "unreadable");

type Entry = (typeof entry extends fc.Arbitrary<infer Made> ? Made : never) & { place: string[] };

/** What cannot be made, because of what is there already, is left out. */
function attempt(make: () => void): void {
  try {
    make();
  } catch {
    // taken
  }
}

function build(cwd: string, entries: readonly Entry[], oddity: string): void {
  writeFileSync(join(cwd, "target.ts"), "call(9);\n");
  for (const each of entries) {
    const at = (name: string) => join(cwd, ...each.place, name);
    attempt(() => mkdirSync(dirname(at("_")), { recursive: true }));
    attempt(() => {
      if (each.kind === "file") writeFileSync(at(each.name), each.content);
      else if (each.kind === "rules") writeFileSync(at(".gitignore"), each.text);
      else if (each.kind === "linked rules") symlinkSync(join(cwd, "target.ts"), at(".gitignore"));
      else if (each.kind === "link") symlinkSync(join(cwd, "target.ts"), at(each.name));
      else if (each.kind === "hard link") linkSync(join(cwd, "target.ts"), at(each.name));
    });
  }
  const bytes = Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0xe9])]);
  if (oddity === "name") writeFileSync(Buffer.concat([bytes, Buffer.from(".ts")]), "call(6);\n");
  if (oddity === "directory name") {
    mkdirSync(bytes);
    writeFileSync(Buffer.concat([bytes, Buffer.from("/f.ts")]), "call(7);\n");
  }
  if (oddity === "unreadable" && !isRoot) {
    mkdirSync(join(cwd, "closed"));
    chmodSync(join(cwd, "closed"), 0);
  }
}

async function inTree(entries: readonly Entry[], oddity: string, act: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = temporaryDirectory();
  try {
    build(cwd, entries, oddity);
    await act(cwd);
  } finally {
    attempt(() => chmodSync(join(cwd, "closed"), 0o755));
  }
}

const accepts = (path: string) => languageOf(path) !== undefined;

async function walked(workspace: Workspace, path: string) {
  const found = [];
  for await (const each of workspace.walk(await workspace.resolve(path, "read"), { include: accepts }))
    found.push(each);
  return found;
}

it("lists what a walk finds, or nothing", async () => {
  let listings = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 14 }),
      odd,
      fc.constantFrom(".", ".", "a", "dist"),
      (entries, oddity, path) =>
        inTree(entries as Entry[], oddity, async (cwd) => {
          const workspace = createNodeWorkspace({ cwd });
          attempt(() => mkdirSync(join(cwd, path)));
          const sieve = createPrefilter({ processes, workspace }, { pats: ["$A"] });
          const root = await workspace.resolve(path, "read");
          const listed = await sieve.list(root, accepts);
          sieve.end();
          if (!listed) return;
          listings++;
          const plain = listed.map(({ path, displayPath, kind, identity }) => ({ path, displayPath, kind, identity }));
          expect(plain).toEqual(await walked(workspace, path));
        }),
    ),
    { numRuns: runs(150) },
  );
  expect(listings).toBeGreaterThan(runs(150) / 3); // most trees are listed
});

const patterns = fc.uniqueArray(
  fc.constantFrom(
    "call($A)",
    "call(9)",
    "other($$$A)",
    "$F(3)",
    "$A.b",
    "x",
    "const $A = call($B)",
    "none.such()",
    "call(",
  ),
  { minLength: 1, maxLength: 3 },
);

function countsIn(told: unknown): number[] {
  const counts = JSON.stringify(told).matchAll(/"filesSearched":(\d+)/g);
  return [...counts].map(([, count]) => Number(count));
}

function withoutCount(told: unknown): unknown {
  return JSON.parse(JSON.stringify(told, (name, value: unknown) => (name === "filesSearched" ? undefined : value)));
}

it("changes nothing about what is told", async () => {
  const run = async (cwd: string, ripgrep: RipgrepDeps | undefined, pats: readonly string[]) => {
    const workspace = createNodeWorkspace({ cwd });
    const told: unknown[] = [];
    const onUpdate = (update: unknown) => void told.push(update);
    const edit = createAstEdit({ ...toolDeps(workspace), ripgrep });
    const grep = createAstGrep(workspace, { ripgrep });
    const ops = pats.map((pat) => ({ pat, out: "send()" }));
    const outcome = (result: Promise<unknown>) => result.catch((error: unknown) => String(error));
    return [
      await outcome(edit.execute("1", { ops, paths: ["."] }, undefined, onUpdate, { cwd })),
      await outcome(edit.execute("2", { ops, paths: ["."], limit: 2 }, undefined, onUpdate, { cwd })),
      await outcome(grep.execute("3", { pat: [...pats, "x()"], path: "." }, undefined, onUpdate, { cwd })),
      await outcome(grep.execute("4", { pat: [...pats], path: ".", lang: "ts" }, undefined, onUpdate, { cwd })),
      told,
    ];
  };
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 14 }), odd, patterns, (entries, oddity, pats) =>
      inTree(entries as Entry[], oddity, async (cwd) => {
        const [told, wanted] = [await run(cwd, { processes }, pats), await run(cwd, undefined, pats)];
        // Names of one file without the words are not looked at, so each of them counts as a file.
        const hasNames = (entries as Entry[]).some(({ kind }) => kind === "hard link");
        expect(hasNames ? withoutCount(told) : told).toEqual(hasNames ? withoutCount(wanted) : wanted);
        const counted = countsIn(told);
        for (const [index, count] of countsIn(wanted).entries()) expect(counted[index]).toBeGreaterThanOrEqual(count);
      }),
    ),
    { numRuns: runs(40), examples: [[[{ kind: "hard link", place: [], name: "f.ts" }], "nothing", ["none.such()"]]] },
  );
});
