import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createBuiltInTools } from "../tools/index.js";
import { toolParts } from "../tools/parts.test-kit.js";
import { toolSettingsOf } from "./session-hands.js";
import { Settings } from "./settings/settings.js";

const file = "a line that is long enough to be like itself \nreturn 1;\n";
const args = { edits: [{ path: "a.txt", old_text: file.replace(" \n", "\n"), new_text: "return 2;\n" }] };

function callTool(settings: Settings, name: string, params: object) {
  const parts = toolParts(createMemoryWorkspace({ "a.txt": file, "a.gif": "GIF89a\u0041\u001f\u0001\u0000" }));
  const tool = createBuiltInTools({ ...parts, settings: { ...toolSettingsOf(settings), checksSeenFiles: false } }).find(
    (one) => one.name === name,
  );
  return tool?.execute("call_1", params as never, undefined, () => {}, { cwd: "/project" });
}

it("edit.fuzzyMatch decides whether a text has to be exact, and edit.fuzzyThreshold how like it has to be", async () => {
  const loose = await callTool(new Settings(), "edit", args);
  expect(loose?.content).toEqual([
    {
      type: "text",
      text: "Successfully replaced text in a.txt.\n\n[From line 1 on, space or look-alikes differ from old_text]",
    },
  ]);
  const refusal = "Could not find the exact text in a.txt.";
  for (const [key, value] of [
    ["edit.fuzzyMatch", false],
    ["edit.fuzzyThreshold", 1],
  ] as const) {
    const settings = new Settings();
    settings.override(key, value);
    await expect(callTool(settings, "edit", args)).rejects.toThrow(refusal);
  }
});

it("images.autoResize: false takes an image as it is, however large", async () => {
  const settings = new Settings();
  await expect(callTool(settings, "read", { path: "a.gif" })).rejects.toThrow("too large to be looked at");
  settings.override("images.autoResize", false);
  expect((await callTool(settings, "read", { path: "a.gif" }))?.content).toHaveLength(2);
});
