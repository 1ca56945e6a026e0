// The house rules that a program can check: the map names what exists, every command is whole, imports point down.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a plain script without types
import { findViolations as untypedFindViolations } from "../scripts/check-layers.mjs";
import { builtInToolNames } from "../src/cli/session-options.js";
import { commandSchemaByType } from "../src/protocol/commands.js";
import { handlers } from "../src/rpc/handlers.js";
import { createMemoryWorkspace } from "../src/testing/memory-workspace.js";
import { createBuiltInTools } from "../src/tools/index.js";
import { toolParts } from "../src/tools/parts.test-kit.js";

const findViolations = untypedFindViolations as (root: string) => Promise<string[]>;
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("ARCHITECTURE.md", () => {
  const text = read("ARCHITECTURE.md");
  const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] as string);
  const named = [...text.matchAll(/`((?:src|test|docs|bench|scripts)\/[\w./-]*)`/g)].map((match) => match[1] as string);

  it.each([...new Set([...links, ...named])])("names %s, which exists", (path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });

  it("names functions that stand in the file it links", () => {
    const pairs = [...text.matchAll(/\]\((src\/[^)]+\.ts)\)\s+`(\w+)/g)];
    expect(pairs.length).toBeGreaterThan(10);
    for (const [, path, name] of pairs) expect(read(path as string), `${name} in ${path}`).toContain(name);
  });

  it("has a paragraph for every folder of the source", () => {
    for (const folder of readdirSync(join(root, "src"))) expect(text).toContain(`**src/${folder}/**`);
  });
});

describe("commands", () => {
  const transcripts = readdirSync(join(root, "test/transcripts")).map((name) => read(`test/transcripts/${name}`));

  it.each([...handlers.keys()])("%s has a schema, a transcript and a row in the docs", (type) => {
    expect(Object.keys(commandSchemaByType)).toContain(type);
    expect(transcripts.some((text) => text.includes(`"type":"${type}"`))).toBe(true);
    expect(read("docs/rpc.md")).toContain(`\`${type}\``);
  });

  it("the docs mark exactly the commands that this server lacks", () => {
    const rows = read("docs/rpc.md").split("\n");
    for (const type of Object.keys(commandSchemaByType)) {
      const row = rows.find((line) => line.startsWith(`| \`${type}\``)) ?? "";
      expect(row, `a row for ${type}`).not.toBe("");
      expect(row.includes("not in this version yet"), `the mark on ${type}`).toBe(!handlers.has(type));
    }
  });
});

describe("tools", () => {
  it("the command line knows the names of the built-in tools", () => {
    const names = createBuiltInTools(toolParts(createMemoryWorkspace({}))).map((tool) => tool.name);
    expect([...builtInToolNames].sort()).toEqual(names.sort());
  });
});

describe("layers", () => {
  it("hold", async () => {
    expect(await findViolations(root)).toEqual([]);
  });

  it("the check sees an upward import, a type-only one, a cycle, a missed contract and a forbidden module", async () => {
    const copy = mkdtempSync(join(tmpdir(), "galley-layers-"));
    try {
      cpSync(join(root, "layers.mjs"), join(copy, "layers.mjs"));
      const files = {
        "base/up.ts": 'import type { Model } from "../protocol/model.js";',
        "protocol/model.ts": 'import { other } from "./other.js";\nexport type Model = string;',
        "protocol/other.ts": 'export { type Model } from "./model.js";\nexport const other = 1;',
        "loop/vendor.ts": 'const load = () => import("../provider/planner.js");',
        "loop/disk.ts": 'import { readFileSync } from "node:fs";',
        "cellar/new.ts": "export const x = 1;",
      };
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(copy, "src", name, ".."), { recursive: true });
        writeFileSync(join(copy, "src", name), text);
      }
      const problems = (await findViolations(copy)).join("\n");
      expect(problems).toContain("base/up.ts: imports protocol/model.ts; protocol is not below base");
      expect(problems).toContain("loop may only use the contract provider/provider.ts");
      expect(problems).toContain("loop/disk.ts: imports node:fs");
      expect(problems).toContain("cycle: protocol/model.ts -> protocol/other.ts -> protocol/model.ts");
      expect(problems).toContain('folder "cellar" is not in layers.mjs');
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});
