// What hosts of pi read in answers and results: where a command comes from, what was cut and where all of it lies, and that
// a compaction is over.

import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

const opened: (RpcHost | ScriptedServer)[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await ("dispose" in thing ? thing.dispose() : thing.close());
});

type Command = { name: string; sourceInfo: Record<string, unknown> };

const extension = `export default (pi) => {
  process.env.TOOL_HOME = "/opt/tools";
  process.env.TOOL_API_KEY = "hidden";
  pi.registerCommand("hello", { description: "Greets", handler() {} });
};\n`;

it("a command names its source with all five members", async () => {
  const files = { "hello.js": extension, "review.md": "Review." };
  const host = new RpcHost({ files, args: ["-e", "hello.js", "--prompt-template", "review.md"] });
  opened.push(host);
  host.send({ id: 1, type: "get_commands" });
  const { commands } = (await host.waitForResponse(1)).data as { commands: Command[] };
  const info = { source: "config", scope: expect.stringMatching(/^(user|project)$/), origin: "top-level" };
  const place = { path: expect.stringContaining("/project/"), baseDir: expect.stringMatching(/\/project$/) };
  const found = Object.fromEntries(commands.map(({ name, sourceInfo }) => [name, sourceInfo]));
  expect(found).toMatchObject({ hello: { ...info, ...place }, review: { ...info, ...place } });
});

it("what an extension puts into the environment reaches commands, but for credentials", async () => {
  const host = new RpcHost({ files: { "hello.js": extension }, args: ["-e", "hello.js"] });
  opened.push(host);
  host.send({ id: 1, type: "bash", command: 'echo "$TOOL_HOME[$TOOL_API_KEY]"' });
  expect((await host.waitForResponse(1)).data).toMatchObject({ output: "/opt/tools[]\n" });
});

it("what was cut is told in pi's members too, with the file that has all of it", async () => {
  const long = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join("\n");
  const call = (id: string, name: string, args: Record<string, unknown>) =>
    openAi.toolCalls([{ id, name, arguments: args }]);
  const server = await startScriptedServer([
    call("c1", "bash", { command: "seq 1 20000" }),
    call("c2", "read", { path: "long.txt", sel: "raw" }),
    openAi.text("Done."),
  ]);
  const host = new RpcHost({ models: modelsAt(server.url), files: { "long.txt": long } });
  opened.push(server, host);
  host.send({ id: "p", type: "prompt", message: "Go" });
  await host.waitForType("agent_settled");
  const [ran, read] = host.frames
    .filter(({ type }) => type === "tool_execution_end")
    .map(({ result }) => (result as { details: Record<string, unknown> }).details);
  const cut = { truncated: true, truncatedBy: expect.any(String), totalBytes: expect.any(Number) };
  const shown = { outputLines: expect.any(Number), outputBytes: expect.any(Number) };
  expect(ran).toMatchObject({ truncation: { ...cut, ...shown, totalLines: 20000 }, meta: { truncation: {} } });
  expect(readFileSync(ran?.fullOutputPath as string, "utf8").split("\n")).toHaveLength(20001);
  expect(read).toMatchObject({ truncation: { ...cut, ...shown, totalLines: 5000 }, meta: { truncation: {} } });
});

it("a compact that fails is told as a compaction that ended, before its answer", async () => {
  const host = new RpcHost();
  opened.push(host);
  host.send({ id: 1, type: "compact" });
  await host.waitForResponse(1);
  const errorMessage = "Nothing to compact (session too small)";
  expect(host.frames.slice(-3)).toEqual([
    { type: "compaction_start", reason: "manual" },
    { type: "compaction_end", reason: "manual", aborted: false, willRetry: false, errorMessage },
    expect.objectContaining({ id: 1, success: false, error: errorMessage }),
  ]);
});
