// Run: node --test examples/testing/word-count.test.mjs

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { call, play, say } from "galley/testing";
import createWordCount from "./word-count.mjs";

/** What the model reads when it calls the tool with these arguments. */
async function resultOf(args, cwd) {
  const { results, session } = await play({
    prompt: "How many words?",
    model: [call("word_count", args), say("Thank you.")],
    session: { customTools: [createWordCount({ cwd })] },
  });
  await session.dispose();
  return results("word_count");
}

test("counts the words of a file", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "word-count-"));
  await writeFile(join(cwd, "a.txt"), "preview, then\napply\n");
  assert.deepEqual(await resultOf({ path: "a.txt" }, cwd), ["3 words"]);
  await rm(cwd, { recursive: true });
});

test("tells the model what to do about a file that is not there", async () => {
  assert.deepEqual(await resultOf({ path: "b.txt" }, "/nowhere"), ["Cannot read b.txt. Give the path of a text file."]);
});

test("refuses arguments that do not fit before the tool runs", async () => {
  const [text] = await resultOf({}, "/nowhere");
  assert.match(text, /path/);
});
