// Files that a prompt mentions: which words count, what goes along, what is left out, and where the message stands.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { silentLog } from "../../base/log.js";
import { createNodeWorkspace } from "../../files/node-workspace.js";
import { maxMentionedTextBytes, maxMentions, readMentions } from "./file-mentions.js";

let cwd: string;
beforeEach(() => {
  cwd = temporaryDirectory();
});

function mentioned(text: string, log = silentLog) {
  return readMentions(text, createNodeWorkspace({ cwd, agentDir: join(cwd, ".agent") }), log);
}

function file(name: string, content: string | Uint8Array) {
  mkdirSync(join(cwd, name, ".."), { recursive: true });
  writeFileSync(join(cwd, name), content);
}

it("takes files at the beginning of a word, quoted names, and names before punctuation", async () => {
  file("src/a.ts", "one\ntwo\n");
  file("my notes.md", "notes");
  file("end.", "dot");
  const files = await mentioned('Compare @src/a.ts, (@"my notes.md") and @end. Write to me@src/a.ts about @src/a.ts!');
  expect(files).toEqual([
    { path: "src/a.ts", content: "one\ntwo\n", lineCount: 2, byteSize: 8 },
    { path: "my notes.md", content: "notes", lineCount: 1, byteSize: 5 },
    { path: "end.", content: "dot", lineCount: 1, byteSize: 3 },
  ]);
});

it("leaves words alone that name no file", async () => {
  mkdirSync(join(cwd, "src"));
  expect(await mentioned("@nobody @scope/package @src @ @../../no a@b.c")).toEqual([]);
});

it("sends an image as one, and says of what is too large that it is", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  file("p.png", png);
  file("big.txt", "x".repeat(maxMentionedTextBytes + 1));
  file("bin", Uint8Array.of(0, 1, 2));
  expect(await mentioned("@p.png @big.txt @bin")).toEqual([
    {
      path: "p.png",
      content: "",
      byteSize: 16,
      image: { type: "image", data: png.toString("base64"), mimeType: "image/png" },
    },
    { path: "big.txt", content: "", byteSize: maxMentionedTextBytes + 1, skippedReason: "tooLarge" },
    { path: "bin", content: "(not text)", lineCount: 1, byteSize: 3 },
  ]);
});

it("takes a file once, and only so many", async () => {
  const names = Array.from({ length: maxMentions + 5 }, (_, index) => `f${index}`);
  for (const name of names) file(name, name);
  symlinkSync("f0", join(cwd, "link"));
  const files = await mentioned(`@f0 @link ${names.map((name) => `@${name}`).join(" ")}`);
  expect(files.map(({ path }) => path)).toEqual(names.slice(0, maxMentions));
});

it("gives out nothing that the workspace refuses, and tells it", async () => {
  file(".env", "SECRET=1");
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (line: string) => void warnings.push(line) };
  expect(await mentioned("Look at @.env", log)).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("@.env is not sent:")]);
});
