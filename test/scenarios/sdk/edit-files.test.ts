// The edit tool on real files, through a whole session: several files change together or not at all, and are taken back
// together.

import { chmodSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import type { ToolResult } from "../../../src/protocol/events.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const names = ["a.txt", "b.txt", "c.txt"];
let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  for (const name of names) writeFileSync(at(name), "old\n");
});

const at = (name: string) => join(home, "project", name);
const texts = () => names.map((name) => readFileSync(at(name), "utf8").trim());

async function edited() {
  const edits = names.map((path) => ({ path, old_text: "old", new_text: "new" }));
  const { session } = await createAgentSession({
    cwd: join(home, "project"),
    agentDir: join(home, "agent"),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel([call("edit", { edits }, "e1"), say("Done.")]).stream,
    loadRules: async () => [],
  });
  await session.prompt("go");
  const result = session.messages.find(({ role }) => role === "toolResult") as unknown as Required<ToolResult>;
  return { session, result };
}

it("a file that cannot be written leaves all of them as they were, and nothing to undo", async () => {
  chmodSync(at("b.txt"), 0o444);
  const { session, result } = await edited();
  expect(texts()).toEqual(["old", "old", "old"]);
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result.content)).toMatch(/b\.txt: .*Nothing was written\./);
  expect(await session.getChanges()).toEqual([]);
  await session.dispose();
});

it("several files are one change, and one undo", async () => {
  linkSync(at("a.txt"), join(home, "other-name"));
  const { session, result } = await edited();
  expect(texts()).toEqual(["new", "new", "new"]);
  const replaced = names.map((name) => `Successfully replaced text in ${name}.`);
  expect(result.content).toEqual([{ type: "text", text: replaced.join("\n") }]);
  expect(result.details).toMatchObject({
    hardlinkBroken: true,
    perFileResults: [{ path: "a.txt", hardlinkBroken: true, replaced: 1 }, { path: "b.txt" }, { path: "c.txt" }],
  });
  expect(await session.getChanges()).toMatchObject([
    { label: "Edit: a.txt, b.txt, c.txt", sourceToolName: "edit", by: "model", files: names.map((path) => ({ path })) },
  ]);
  const { answer } = await session.undo({ apply: { by: "user", reason: "no" } });
  expect([texts(), answer?.decided.outcomes]).toMatchObject([["old", "old", "old"], [{ kind: "applied" }]]);
  await session.dispose();
});
