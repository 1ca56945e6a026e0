// Modules that were written for other agents, in the built program and in a program of its own: each loads and works. A
// guard that cannot be loaded closes what it would have guarded.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { compatibleFiles, compatibleModules, compatibleResults } from "../kit/compatible-modules.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
let server: ScriptedServer | undefined;
beforeEach(() => {
  place = emptyHome();
  mkdirSync(join(place.home, "project"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  place.remove();
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};
const galley = (args: string[]) =>
  run(process.execPath, [galleyBin, ...args], { env: place.env, cwd: join(place.home, "project") });

interface Call {
  name: string;
  args: Record<string, unknown>;
}

const script = (calls: readonly Call[]) => [
  openAi.toolCalls(calls.map(({ name, args }, index) => ({ id: `c${index}`, name, arguments: args }))),
  openAi.text("Done."),
];

type Results = Record<string, string>;
interface EndFrame {
  type: string;
  toolName: string;
  result: { content: { text: string }[] };
}

const resultsIn = (stdout: string): Results =>
  Object.fromEntries(
    stdout
      .split("\n")
      .filter((line) => line.includes('"tool_execution_end"'))
      .map((line) => JSON.parse(line) as EndFrame)
      .map(({ toolName, result }) => [toolName, result.content.map(({ text }) => text).join("")]),
  );

/** In print mode, over RPC and in a program: what each tool said, and what was on stderr. */
const ways: Record<string, (calls: readonly Call[]) => Promise<{ results: Results; stderr: string }>> = {
  async print(calls) {
    server = await startScriptedServer(script(calls));
    put(".galley/agent/models.yml", modelsAt(server.url));
    const { stdout, stderr } = await galley(["--mode", "json", "--quiet", "-p", "Go"]);
    return { results: resultsIn(stdout), stderr };
  },
  async rpc(calls) {
    server = await startScriptedServer(script(calls));
    put(".galley/agent/models.yml", modelsAt(server.url));
    const env = { HOME: place.home, GALLEY_AGENT_DIR: join(place.home, ".galley/agent") };
    const host = new RpcHost({ args: ["--cwd", join(place.home, "project")], env });
    try {
      host.send({ id: "p", type: "prompt", message: "Go" });
      await host.waitForType("agent_settled");
      return { results: resultsIn(host.lines.join("\n")), stderr: host.stderr };
    } finally {
      await host.dispose();
    }
  },
  async sdk(calls) {
    const door = (name: string) => JSON.stringify(new URL(`file://${join(projectRoot, "dist", name)}`).href);
    put(
      "program.mjs",
      `import { createAgentSession } from ${door("sdk.js")};
import { calls, say, scriptedModel, scriptedProviderModel } from ${door("testing.js")};
const wanted = ${JSON.stringify(calls.map((call, index) => ({ ...call, id: `c${index}` })))};
const model = { model: scriptedProviderModel, streamFn: scriptedModel([calls(...wanted), say("Done.")]).stream };
const log = { warn: (text) => console.error(text), error: (text) => console.error(text) };
const { session } = await createAgentSession({ agentDir: ${JSON.stringify(join(place.home, ".galley/agent"))}, ...model, log });
session.subscribe((event) => { if (event.type === "tool_execution_end") console.log(JSON.stringify(event)); });
await session.prompt("Go");
await session.dispose();`,
    );
    const file = join(place.home, "program.mjs");
    const outcome = await run(process.execPath, [file], { env: place.env, cwd: join(place.home, "project") });
    return { results: resultsIn(outcome.stdout), stderr: outcome.stderr };
  },
};

describe.each(Object.entries(ways))("%s", (_name, go) => {
  it("modules written for other agents load and work", async () => {
    for (const [path, text] of Object.entries(compatibleFiles)) put(path, text);
    for (const [name, text] of Object.entries(compatibleModules)) put(`.galley/agent/extensions/${name}`, text);
    const calls = Object.keys(compatibleResults).map((name) => ({ name, args: {} }));
    const { results, stderr } = await go(calls);
    expect(results).toEqual(compatibleResults);
    expect(stderr).toBe("");
  });

  it("a guard that cannot be loaded closes write and exec", async () => {
    put("project/a.txt", "hello\n");
    put(".galley/agent/extensions/guard.ts", 'export default (pi) => { pi.on("tool_call", () => ({ block: true }) };');
    const { results, stderr } = await go([
      { name: "write", args: { path: "b.txt", content: "x" } },
      { name: "bash", args: { command: "touch c.txt" } },
      { name: "read", args: { path: "a.txt" } },
    ]);
    const guard = join(place.home, ".galley/agent/extensions/guard.ts");
    const sentence = `Refused: the guard ${guard} could not be loaded. Until it is mended or removed, nothing is written and nothing is executed.`;
    expect(results).toEqual({ write: sentence, bash: sentence, read: expect.stringContaining("hello") });
    expect(["b.txt", "c.txt"].filter((name) => existsSync(join(place.home, "project", name)))).toEqual([]);
    expect(stderr).toContain(`${guard}: Failed to load extension: `);
    expect(stderr).toContain(sentence);
  });
});
