import { describe, expect, it, vi } from "vitest";
import { createMemoryWorkspace } from "../../testing/memory-workspace.js";
import { findFiles } from "./files.js";
import { createHeadStart, maxHeldFiles } from "./head-start.js";
import { sharedParsers } from "./parsers.js";
import { prepareSearch } from "./search.js";

const pats = ["call($A)"];

async function setUp(contents: Record<string, string>, signal?: AbortSignal) {
  const workspace = createMemoryWorkspace(contents);
  const readIf = vi.spyOn(workspace, "readIf");
  const { files } = await findFiles(workspace, sharedParsers(), { paths: ["."] });
  const ahead = createHeadStart(workspace, sharedParsers(), { pats, signal });
  const search = async () => {
    const found: string[] = [];
    const { results } = await prepareSearch(workspace, sharedParsers(), { files, pats, ahead, signal });
    for await (const each of results()) found.push("issue" in each ? each.issue : each.target.displayPath);
    ahead.end();
    return found;
  };
  return { files, readIf, ahead, search };
}

describe("createHeadStart", () => {
  it("reads each file once, in whichever order they are begun", async () => {
    const { files, readIf, ahead, search } = await setUp({ "a.ts": "call(1)", "b.ts": "other()", "c.js": "call(" });
    await ahead.begin(files.toReversed());
    expect(await search()).toEqual(["a.ts", "c.js: parse error (syntax tree contains error nodes)"]);
    expect(readIf).toHaveBeenCalledTimes(3);
  });

  it("does not answer for another file of the same name", async () => {
    const { files, readIf, ahead, search } = await setUp({ "a.ts": "call(1)" });
    await ahead.begin(files.map((file) => ({ ...file, target: { ...file.target, identity: "other" } })));
    expect(await search()).toEqual(["a.ts"]);
    expect(readIf).toHaveBeenCalledTimes(2);
  });

  it("begins no more than a search holds, and nothing that the search has come to", async () => {
    const names = Array.from({ length: maxHeldFiles + 9 }, (_, index) => [`${index}.ts`, "call(1)"]);
    const { files, readIf, ahead, search } = await setUp(Object.fromEntries(names));
    await ahead.begin(files);
    expect(readIf).toHaveBeenCalledTimes(maxHeldFiles);
    expect(await search()).toHaveLength(files.length);
    await ahead.begin(files);
    expect(readIf).toHaveBeenCalledTimes(files.length);
  });

  it("leaves a failure to whoever takes the file", async () => {
    const stop = new AbortController();
    const { files, ahead, search } = await setUp({ "a.ts": "call(1)" }, stop.signal);
    stop.abort();
    await ahead.begin(files);
    await expect(search()).rejects.toMatchObject({ code: "aborted" });
  });
});
