import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { historyFile, maxKept, openHistory } from "./history-file.js";

describe("the file of the history", () => {
  it("is the user's alone and one for each project", () => {
    const agentDir = temporaryDirectory();
    const file = historyFile(agentDir, "/shop");
    expect(historyFile(agentDir, "/other")).not.toBe(file);
    const history = openHistory(file);
    expect(history.load()).toEqual([]);
    history.add("one\ntwo");
    history.add("three");
    expect(openHistory(file).load()).toEqual(["one\ntwo", "three"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("skips damaged lines and shortens a long file", () => {
    const file = join(temporaryDirectory(), "history.jsonl");
    writeFileSync(file, '"good"\n{"half":\n42\n', { mode: 0o600 });
    expect(openHistory(file).load()).toEqual(["good"]);
    for (let index = 0; index < 2 * maxKept; index++) appendFileSync(file, `"p${index}"\n`);
    expect(openHistory(file).load()).toHaveLength(maxKept);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(maxKept + 1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
