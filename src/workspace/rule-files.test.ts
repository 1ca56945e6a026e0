import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { maxRuleBytes, maxRuleFiles, readRuleFiles } from "./rule-files.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "galley-rules-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string) => join(directory, "rules", name);

function read(): { files: { path: string; text: string }[]; warnings: string[] } {
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text.replace(directory, "DIR")), error: () => {} };
  return { files: readRuleFiles(directory, log), warnings };
}

function write(files: Record<string, string | Uint8Array>): void {
  mkdirSync(join(directory, "rules"), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(at(name), content);
}

it("gives the rule files in order of their names and nothing else", () => {
  write({ "b.mdc": "B", "a.md": "\uFEFFÄ", "c.txt": "no", "d.md.bak": "no", md: "no" });
  mkdirSync(at("below"));
  writeFileSync(at("below/e.md"), "no");
  expect(read()).toEqual({
    files: [
      { path: at("a.md"), text: "Ä" },
      { path: at("b.mdc"), text: "B" },
    ],
    warnings: [],
  });
});

it("gives nothing, and says nothing, where there is nothing", () => {
  expect(read()).toEqual({ files: [], warnings: [] });
  directory = join(directory, "absent");
  expect(read()).toEqual({ files: [], warnings: [] });
});

it("opens regular files only, follows no link, and waits for nobody", () => {
  write({ "good.md": "Good" });
  mkdirSync(at("a-folder.md"));
  execFileSync("mkfifo", [at("b-fifo.md")]);
  symlinkSync(at("good.md"), at("c-link.md"));
  const { files, warnings } = read();
  expect(files).toEqual([{ path: at("good.md"), text: "Good" }]);
  expect(warnings).toEqual([
    "DIR/rules/a-folder.md is not a regular file; it is not used.",
    "DIR/rules/b-fifo.md is not a regular file; it is not used.",
    "DIR/rules/c-link.md is a link; it is not used.",
  ]);
});

it("does not follow a linked directory, nor take a file for one", () => {
  mkdirSync(join(directory, "elsewhere"));
  writeFileSync(join(directory, "elsewhere/a.md"), "A");
  symlinkSync("elsewhere", join(directory, "rules"));
  const refusal = { files: [], warnings: ["DIR/rules is not a directory; it is not used."] };
  expect(read()).toEqual(refusal);
  rmSync(join(directory, "rules"));
  writeFileSync(join(directory, "rules"), "");
  expect(read()).toEqual(refusal);
});

it("refuses what is too large or no text", () => {
  write({
    "full.md": "x".repeat(maxRuleBytes),
    "over.md": "x".repeat(maxRuleBytes + 1),
    "latin.md": Uint8Array.of(0x61, 0xe4),
    "zero.md": "a\0b",
  });
  const { files, warnings } = read();
  expect(files.map(({ path }) => path)).toEqual([at("full.md")]);
  expect(warnings).toEqual([
    "DIR/rules/latin.md is not UTF-8 text; it is not used.",
    "DIR/rules/over.md is larger than 65536 bytes; it is not used.",
    "DIR/rules/zero.md is not text; it is not used.",
  ]);
});

it("reads no more files than anybody has", () => {
  const names = Array.from({ length: maxRuleFiles + 1 }, (_, index) => `${String(index).padStart(3, "0")}.md`);
  write(Object.fromEntries(names.map((name) => [name, ""])));
  const { files, warnings } = read();
  expect(files.map(({ path }) => path)).toEqual(names.slice(0, -1).map(at));
  expect(warnings).toEqual(["DIR/rules has more than 64 rules; the others are not used."]);
});

it("shows a hostile name on one line", () => {
  write({ "\u001b[31m\n.md": Uint8Array.of(0xff) });
  expect(read().warnings).toEqual(["DIR/rules/\\u001b[31m\\n.md is not UTF-8 text; it is not used."]);
});
