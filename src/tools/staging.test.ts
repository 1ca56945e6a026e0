// Tools of one turn run side by side: what one stages while another reads is not lost.

import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createAstEdit } from "./ast-edit.js";
import { SeenFiles } from "./seen-files.js";
import { stagedWorkspace } from "./staged-workspace.js";
import type { Staging } from "./staging.js";
import { stagingKit } from "./tools.test-kit.js";
import { createWrite } from "./write.js";

const path = "/project/a.ts";

/** Stages another change of the file while it is read for the first time. */
function raced(content: string, staged: string) {
  const { staging: kit, actions } = stagingKit("all");
  let isStaged = false;
  const staging: Staging = {
    ...kit,
    staged: (asked) => (isStaged && asked === path ? [{ id: "pa_0", bytes: Buffer.from(staged) }] : []),
    stagedPaths: () => (isStaged ? [path] : []),
  };
  const disk = createMemoryWorkspace({ "a.ts": content });
  const view = stagedWorkspace(disk, staging);
  const late = <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      const result = await read(...args);
      isStaged = true;
      return result;
    };
  };
  return { workspace: { ...view, readFile: late(view.readFile), readIf: late(view.readIf) }, staging, actions };
}

it("a rewrite is made again on top of what was staged meanwhile", async () => {
  const { workspace, staging, actions } = raced("foo(1);\nbaz(2);\n", "bar(1);\nbaz(2);\n");
  const artifacts = { open: async () => ({ id: "1", write: async () => {}, close: async () => {} }) };
  const tool = createAstEdit({ workspace, staging, artifacts });
  await tool.execute("c1", { ops: [{ pat: "baz($A)", out: "qux($A)" }], paths: ["a.ts"] }, undefined, () => {}, {
    cwd: "/project",
  } as never);
  const [action] = actions;
  expect(action?.dependsOn).toEqual(["pa_0"]);
  const change = action?.work.kind === "plan" ? action.work.plan.changes[0] : undefined;
  expect([change?.before, change?.after].map(String)).toEqual(["bar(1);\nbaz(2);\n", "bar(1);\nqux(2);\n"]);
  expect(actions).toHaveLength(1);
});

it("a write says that the file is not what it was", async () => {
  const { workspace, staging, actions } = raced("one\n", "two\n");
  const tool = createWrite({ workspace, staging, seen: new SeenFiles() });
  const written = tool.execute("c1", { path: "a.ts", content: "three\n" }, undefined, () => {}, {} as never);
  await expect(written).rejects.toThrow("File changed since it was last read: a.ts. Read it again.");
  expect(actions).toEqual([]);
});

it("a file that is in the view only is not changed by a plan, which could never be applied", async () => {
  const { staging: kit, actions } = stagingKit("all");
  const kept = new Map([[path, "foo(1);\n"]]);
  const staging: Staging = {
    ...kit,
    kept: {
      file: (asked) => (kept.has(asked) ? asked : undefined),
      paths: () => [...kept.keys()],
      read: async (place) => ({ bytes: Buffer.from(kept.get(place) ?? ""), isTruncated: false }),
      stat: async (place) => ({ sizeBytes: kept.get(place)?.length ?? 0, modifiedMs: 0, mode: 0o644 }),
    },
  };
  const workspace = stagedWorkspace(createMemoryWorkspace({}), staging);
  const artifacts = { open: async () => ({ id: "1", write: async () => {}, close: async () => {} }) };
  const said = /^Cannot change a\.ts: git ignores it, so it is in the staged view only and is not applied\./;
  const write = createWrite({ workspace, staging, seen: new SeenFiles() });
  await expect(
    write.execute("c1", { path: "a.ts", content: "x" }, undefined, () => {}, { cwd: "/project" } as never),
  ).rejects.toThrow(said);
  const rewrite = createAstEdit({ workspace, staging, artifacts });
  await expect(
    rewrite.execute("c2", { ops: [{ pat: "foo($A)", out: "bar($A)" }], paths: ["a.ts"] }, undefined, () => {}, {
      cwd: "/project",
    } as never),
  ).rejects.toThrow(said);
  expect(actions).toEqual([]);
});
