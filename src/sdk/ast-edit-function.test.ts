// The engine of `ast_edit` as a function: the same bytes, told as data, and written only if that is asked for.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { astEdit } from "./index.js";

let home: string;
let cwd: string;
let realHome: string | undefined;
beforeEach(() => {
  home = temporaryDirectory();
  realHome = process.env.HOME;
  process.env.HOME = home;
  cwd = join(home, "project");
  mkdirSync(join(cwd, "src"), { recursive: true });
  writeFileSync(join(cwd, "src/a.ts"), "é();\n old(1,\n  2);\n");
  writeFileSync(join(cwd, "src/b.ts"), "old(3, 4);\n");
});
afterEach(() => {
  process.env.HOME = realHome;
});

const place = () => ({ cwd, agentDir: join(home, "agent") });
const ops = [{ pat: "old($A, $B)", out: "fresh($B, $A)" }];
const read = (name: string) => readFileSync(join(cwd, name), "utf8");

it("tells what would change, and writes nothing", async () => {
  const outcome = await astEdit({ ...place(), ops, path: "src" });
  expect(outcome).toEqual({
    changes: [
      {
        ...{ path: "src/a.ts", before: "old(1,\n  2)", after: "fresh(2, 1)" },
        ...{ byteStart: 7, byteEnd: 18, deletedLength: 11 },
        ...{ startLine: 2, startColumn: 2, endLine: 3, endColumn: 5 },
      },
      {
        ...{ path: "src/b.ts", before: "old(3, 4)", after: "fresh(4, 3)" },
        ...{ byteStart: 0, byteEnd: 9, deletedLength: 9 },
        ...{ startLine: 1, startColumn: 1, endLine: 1, endColumn: 10 },
      },
    ],
    fileChanges: [
      { path: "src/a.ts", count: 1 },
      { path: "src/b.ts", count: 1 },
    ],
    ...{ totalReplacements: 2, filesTouched: 2, filesSearched: 2, applied: false, limitReached: false },
  });
  expect(read("src/b.ts")).toBe("old(3, 4);\n");
});

it("writes all of it if that is asked for, and keeps what was there", async () => {
  const rewrites = { "old($A, $B)": "fresh($B, $A)" };
  expect(await astEdit({ ...place(), rewrites, dryRun: false })).toMatchObject({ applied: true, filesTouched: 2 });
  expect([read("src/a.ts"), read("src/b.ts")]).toEqual(["é();\n fresh(2, 1);\n", "fresh(4, 3);\n"]);
  const [key = ""] = readdirSync(join(home, "agent/undo"));
  expect(readdirSync(join(home, "agent/undo", key))).toHaveLength(1);
  expect(await astEdit({ ...place(), rewrites, dryRun: false })).toMatchObject({ applied: false, changes: [] });
});

it("keeps to its limits, and to what may be written", async () => {
  const limited = { limitReached: true, totalReplacements: 1 };
  expect(await astEdit({ ...place(), ops, maxFiles: 1 })).toMatchObject(limited);
  expect(await astEdit({ ...place(), ops, maxReplacements: 1 })).toMatchObject(limited);
  writeFileSync(join(home, "away.ts"), "old(1, 2);\n");
  const away = { ...place(), ops, path: join(home, "away.ts"), dryRun: false };
  await expect(astEdit(away)).rejects.toMatchObject({ code: "file_refused" });
  expect(readFileSync(join(home, "away.ts"), "utf8")).toBe("old(1, 2);\n");
});

it("tells what cannot be parsed, or fails by it before anything is written", async () => {
  writeFileSync(join(cwd, "src/bad.ts"), "old(1, 2) ]]]\n");
  const parseErrors = ["src/bad.ts: parse error (syntax tree contains error nodes)"];
  expect(await astEdit({ ...place(), ops })).toMatchObject({ parseErrors, filesTouched: 2 });
  const failing = astEdit({ ...place(), ops, dryRun: false, failOnParseError: true });
  await expect(failing).rejects.toThrow(`Parse issues:\n- ${parseErrors[0]}`);
  expect(read("src/b.ts")).toBe("old(3, 4);\n");
});

it.each([
  [{}, "astEdit takes either ops or rewrites."],
  [{ ops, rewrites: {} }, "astEdit takes either ops or rewrites."],
  [{ ops: [{ pat: 1, out: "" }] }, "A pattern and its replacement must be strings."],
  [{ ops: [] }, "`ops` must include at least one op entry"],
  [{ ops, maxFiles: 0 }, "maxFiles must be a positive number"],
  [{ ops, maxReplacements: 0 }, "limit must be a positive number"],
])("%j is refused", async (request, sentence) => {
  await expect(astEdit({ ...place(), ...(request as object) })).rejects.toThrow(sentence);
});
