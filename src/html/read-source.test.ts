import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { exportHtml } from "./export-html.js";
import { readSource } from "./read-source.js";

const directory = temporaryDirectory();
const places = { cwd: directory, agentDir: join(directory, "agent") };

it("reads a file and changes nothing, a torn end included", async () => {
  const path = join(directory, "a.jsonl");
  const text =
    '{"type":"session","version":1,"id":"x","timestamp":"","cwd":"/"}\n{"type":"message","timestamp":"","message":{"role":"user","content":"hello"}}\n{"type":"mess';
  writeFileSync(path, text);
  const source = await readSource(path, places);
  expect(await exportHtml(source)).toContain('<pre class="plain">hello</pre>');
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(readdirSync(directory)).toEqual(["a.jsonl"]);
});

it("refuses what is not there and what is no session, and makes neither", async () => {
  const missing = join(directory, "missing.jsonl");
  await expect(readSource(missing, places)).rejects.toMatchObject({ message: `File not found: ${missing}` });
  for (const text of ["", "hello\n"]) {
    const path = join(directory, "b.jsonl");
    writeFileSync(path, text);
    await expect(readSource(path, places)).rejects.toMatchObject({ message: `Not a session file: ${path}` });
    expect(readFileSync(path, "utf8")).toBe(text);
    rmSync(path);
  }
  expect(readdirSync(directory)).toEqual(["a.jsonl"]);
});
