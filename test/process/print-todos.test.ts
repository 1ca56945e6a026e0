// Open todos at the end of a one-shot run: they cause no further replies, unless the user asked for reminders.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
afterAll(remove);

const ops = [{ op: "replace", phases: [{ name: "Port", tasks: [{ content: "Map it" }] }] }];
const planned = openAi.toolCalls([{ id: "c1", name: "todo_write", arguments: { ops } }]);

async function ask(script: Reply[], args: readonly string[], settings = "{}") {
  const server = await startScriptedServer(script);
  const agentDir = join(home, ".galley/agent");
  mkdirSync(agentDir, { recursive: true });
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", auth: "none", models: [{ id: "m" }] };
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { local: provider } }));
  writeFileSync(join(agentDir, "config.yml"), settings);
  const outcome = await run(process.execPath, [galleyBin, "--model", "local/m", ...args], {
    env,
    cwd: home,
    input: "",
  });
  await server.close(); // throws for a reply that was not asked for, and for one that was asked for beyond the script
  return outcome;
}

it("does not ask the model again", async () => {
  expect(await ask([planned, openAi.text("Planned.")], ["-p", "Port it"])).toMatchObject({
    code: 0,
    stdout: "Planned.\n",
  });
  const { code, stdout } = await ask([planned, openAi.text("Planned.")], ["--mode", "json", "Port it"]);
  expect([code, stdout.includes("todo_reminder")]).toEqual([0, false]);
});

it("does not because a project wants it", async () => {
  const project = join(home, "project");
  mkdirSync(join(project, ".galley"), { recursive: true });
  writeFileSync(join(project, ".galley/config.yml"), "todo:\n  reminders: true\n");
  const { code } = await ask([planned, openAi.text("Planned.")], ["--cwd", project, "-p", "Port it"]);
  expect(code).toBe(0);
});

it.each([
  ["the settings", [], "todo:\n  reminders: true\n  reminders.max: 1\n"],
  ["this run", ["--set", "todo.reminders=true", "--set", "todo.reminders.max=1"], "{}"],
])("asks again where the user set reminders in %s", async (_, args, settings) => {
  const script = [planned, openAi.text("Planned."), openAi.text("Later.")];
  expect(await ask(script, [...args, "-p", "Port it"], settings)).toMatchObject({ code: 0, stdout: "Later.\n" });
});
