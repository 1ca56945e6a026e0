import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { systemClock } from "../base/clock.js";
import { silentLog } from "../base/log.js";
import { Settings } from "../config/settings/settings.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createBuiltInTools } from "../tools/index.js";
import { toolDeps } from "../tools/tools.test-kit.js";
import { createToolResources, toolSettingsOf } from "./tool-resources.js";

const file = "a line that is long enough to be like itself \nreturn 1;\n";
const args = { edits: [{ path: "a.txt", old_text: file.replace(" \n", "\n"), new_text: "return 2;\n" }] };

const files = {
  "a.txt": file,
  "a.gif": "GIF89a\u0041\u001f\u0001\u0000",
  "a.ts": "old(1);\n",
  "b.ts": "old(2);\n",
};

function callTool(settings: Settings, name: string, params: object, env = {}) {
  const parts = toolDeps(createMemoryWorkspace(files));
  const tool = createBuiltInTools({
    ...parts,
    settings: toolSettingsOf(settings, env),
  }).find((one) => one.name === name);
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

it.each([
  [{ GALLEY_MAX_AST_FILES: "1" }, 1],
  [{ PI_MAX_AST_FILES: "1" }, 1],
  [{ GALLEY_MAX_AST_FILES: "0" }, 2],
  [{ GALLEY_MAX_AST_FILES: "many" }, 2],
  [{}, 2],
])("with %j ast_edit touches %d files", async (env, filesTouched) => {
  const result = await callTool(new Settings(), "ast_edit", { ops: [{ pat: "old($A)", out: "new($A)" }] }, env);
  expect(result?.details).toMatchObject({ filesTouched, limitReached: filesTouched < 2 });
});

it.each([
  [{}, "true and 1"],
  [{ GALLEY_BASH_NO_CI: "1" }, "unset and 1"],
  [{ PI_BASH_NO_CI: "yes", GALLEY_SHELL_PREFIX: "N=2;" }, "unset and 2"],
])("with %j a shell knows of CI and begins with the user's words as it should", async (env, wanted) => {
  const cwd = temporaryDirectory();
  const place = { cwd, agentDir: cwd, env: { PATH: process.env.PATH, ...env }, clock: systemClock, log: silentLog };
  const { processes } = createToolResources({ ...place, settings: new Settings() });
  let output = "";
  await processes.run({
    cwd,
    command: { shell: 'printf \'%s and %s\' "${CI-unset}" "${N-1}"' },
    onOutput(chunk) {
      output += Buffer.from(chunk).toString();
      return undefined;
    },
  });
  await processes.shutdown();
  expect(output).toBe(wanted);
});
