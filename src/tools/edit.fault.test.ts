// Edits on the real disk against files of every kind, in short. The long form runs the same loop on the built module:
// `runEdits` of bench/kit-workspace/edits.mjs.

import { expect, it } from "vitest";
import { runEdits } from "../../bench/kit-workspace/edits.mjs";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import { createEdit } from "./edit.js";
import { SeenFiles } from "./seen-files.js";

const directory = temporaryDirectory();

it("F-27: no byte, mode or link changes but those that were meant", async () => {
  const tools = { createEdit, createNodeWorkspace, SeenFiles };
  const { edits, refused, ...figures } = await runEdits({
    tools,
    directory,
    count: 100,
    seed: 1,
    largeBytes: 3_000_000,
  });
  expect(figures).toEqual({ changedBytes: 0, changedModes: 0, changedLinks: 0, wronglyRefused: 0, problems: [] });
  expect(edits).toBeGreaterThan(80);
  expect(refused).toBeGreaterThan(0);
});
