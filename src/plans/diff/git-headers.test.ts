// The shown diff of a plan, given to the real `git apply`, makes the tree that the plan describes.

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { FileType } from "../../base/file-type.js";
import { printable } from "../../files/paths/resolve-path.js";
import { type PlannedChange, stampOf, typeMember } from "../plan.js";
import { diffOf } from "./plan-diff.js";

const hasGit = spawnSync("git", ["--version"]).status === 0;

interface Content {
  readonly type?: FileType;
  readonly bytes: Buffer;
  readonly mode: number;
}

type Tree = Record<string, Content>;

const file = (text: string | Buffer, mode = 0o644): Content => ({ bytes: Buffer.from(text), mode });
const link = (target: string): Content => ({ type: "symlink", bytes: Buffer.from(target), mode: 0o777 });

function make(directory: string, tree: Tree): void {
  for (const [name, { type, bytes, mode }] of Object.entries(tree)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    if (type === "symlink") symlinkSync(bytes, path);
    else {
      writeFileSync(path, bytes);
      chmodSync(path, mode);
    }
  }
}

/** As git sees it: bytes, links, and whether it can be run. */
function look(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    if (name === ".git" || name.startsWith(".git/") || stat.isDirectory()) continue;
    if (stat.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
    else found[name] = `${(stat.mode & 0o100) === 0 ? "file" : "program"} ${readFileSync(path, "latin1")}`;
  }
  return found;
}

function changesOf(root: string, before: Tree, after: Tree): PlannedChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): PlannedChange[] => {
    const [old, fresh] = [before[name], after[name]];
    const stamp = stampOf(printable(name), old);
    const common = { path: join(root, name), stamp, before: old?.bytes ?? Buffer.alloc(0) };
    if (!fresh) return [{ kind: "delete", ...common, after: Buffer.alloc(0), ...typeMember(old?.type) }];
    const mode = fresh.type === "symlink" ? {} : { mode: fresh.mode };
    const change = { ...common, after: fresh.bytes, ...mode, ...typeMember(fresh.type) };
    return old && fresh.bytes.equals(old.bytes) && fresh.mode === old.mode && fresh.type === old.type
      ? []
      : [{ kind: old ? "modify" : "create", ...change }];
  });
}

async function applied(before: Tree, after: Tree): Promise<{ now: object; wanted: object; text: string }> {
  const home = mkdtempSync(join(temporaryDirectory(), "git-apply-"));
  const [here, there] = ["here", "there"].map((name) => join(home, name)) as [string, string];
  for (const [directory, tree] of [
    [here, before],
    [there, after],
  ] as const) {
    mkdirSync(directory);
    make(directory, tree);
  }
  execFileSync("git", ["init", "-q", here]);
  let text = "";
  for (const change of changesOf(here, before, after)) text += (await diffOf(change)).diff(1 << 20);
  const done = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: here, input: text, encoding: "utf8" });
  const [now, wanted] = [look(here), look(there)];
  rmSync(home, { recursive: true });
  return { now: done.status === 0 ? now : { problem: done.stderr }, wanted, text };
}

const odd = [
  "with space.txt",
  'quo"te.txt',
  "back\\slash.txt",
  "ünï ⟨code⟩.txt",
  "tab\there.txt",
  "new\nline.txt",
  "a b/c d/e f.txt",
];

describe.skipIf(!hasGit)("E-8: a shown diff, given to git apply (skipped without git)", () => {
  const cases: Record<string, [Tree, Tree]> = {
    "changed lines, with and without a final newline": [
      { "a.txt": file("1\n2\n3\n"), "b.txt": file("1\n2"), "c.txt": file("x"), "d.txt": file("x\n") },
      { "a.txt": file("1\ntwo\n3\n"), "b.txt": file("1\n2\n"), "c.txt": file("y"), "d.txt": file("y") },
    ],
    "new, deleted and empty files": [
      { "old.txt": file("gone\n"), "empty-old": file(""), stays: file("s\n"), "d/e/f.txt": file("deep\n") },
      { "new.txt": file("here\n"), "empty-new": file(""), stays: file("s\n"), "n/m.txt": file("no end") },
    ],
    "emptied and filled": [
      { a: file("text\n"), b: file("") },
      { a: file(""), b: file("text\n") },
    ],
    modes: [
      {
        "run.sh": file("#!/bin/sh\n"),
        "both.sh": file("1\n"),
        "off.sh": file("x\n", 0o755),
        gone: file("g\n", 0o755),
        e: file("", 0o755),
      },
      {
        "run.sh": file("#!/bin/sh\n", 0o755),
        "both.sh": file("2\n", 0o755),
        "off.sh": file("x\n"),
        made: file("m\n", 0o755),
        e2: file("", 0o755),
      },
    ],
    "links: new, changed, deleted": [
      { changed: link("old"), gone: link("somewhere/else") },
      { changed: link("new/target with space"), made: link("../outside") },
    ],
    "changes of type": [
      {
        "file-to-link": file("text\n"),
        "link-to-file": link("t"),
        "run-to-link": file("r\n", 0o755),
        "empty-to-link": file(""),
        "link-to-dir": link("x"),
        "file-to-dir": file("f\n"),
        "dir-to-file/x": file("x\n"),
      },
      {
        "file-to-link": link("target"),
        "link-to-file": file("text\n"),
        "run-to-link": link("r"),
        "empty-to-link": link("e"),
        "link-to-dir/x": file("x\n"),
        "file-to-dir/x": file("x\n"),
        "dir-to-file": file("x\n"),
      },
    ],
    "odd names, changed": [
      Object.fromEntries(odd.map((name) => [name, file("old\n")])),
      Object.fromEntries(odd.map((name) => [name, file("new\n")])),
    ],
    "odd names, new and deleted": [
      Object.fromEntries(odd.map((name) => [`gone/${name}`, file("old\n", 0o755)])),
      Object.fromEntries(odd.map((name) => [`made/${name}`, file("new")])),
    ],
    "odd names, modes and links": [
      Object.fromEntries(odd.map((name) => [name, file("old\n")])),
      Object.fromEntries(
        odd.map((name, index) => [name, index % 2 === 0 ? file("old\n", 0o755) : link(`to ${index}`)]),
      ),
    ],
  };
  for (const [title, [before, after]] of Object.entries(cases))
    it(title, async () => {
      const { now, wanted, text } = await applied(before, after);
      expect(now, text).toEqual(wanted);
    });
});
