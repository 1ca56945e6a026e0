// A guard that was written for pi looks at `event.input.path` of an `edit`. In the built program no file passes it by.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer;
afterEach(() => server.close());

const files = { "a.txt": "one\n", "secret.txt": "one\n" };
const change = (path: string) => ({ path, old_text: "one", new_text: "two" });

async function edited(args: Record<string, unknown>, handler: string) {
  const log = join(temporaryDirectory(), "seen.txt");
  server = await startScriptedServer([
    openAi.toolCalls([{ id: "c1", name: "edit", arguments: args }]),
    openAi.text("Done."),
  ]);
  const guard = `import { appendFileSync } from "node:fs";
    export default (pi) => pi.on("tool_call", (event) => {
      appendFileSync(${JSON.stringify(log)}, JSON.stringify(event.input) + "\\n");
      ${handler}
    });`;
  const host = new RpcHost({ models: modelsAt(server.url), files: { ...files, "g.ts": guard }, args: ["-e", "g.ts"] });
  try {
    host.send({ id: "s", type: "get_state" }, { id: "p", type: "prompt", message: "Go" });
    await host.waitForType("agent_settled");
    const [end] = host.frames.filter(({ type }) => type === "tool_execution_end");
    host.send({ id: "b", type: "bash", command: "cat a.txt secret.txt" });
    const { output } = (await host.waitForResponse("b")).data as { output: string };
    const seen = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    return { isError: end?.isError === true, output, seen: seen.map((line) => JSON.parse(line) as object) };
  } finally {
    await host.dispose();
  }
}

const refuses = `if (event.input.path === "secret.txt") return { block: true, reason: "It is secret." };`;

it.each([
  ["named at the top", { path: "secret.txt", old_text: "one", new_text: "two" }],
  ["in a list", { edits: [change("secret.txt")] }],
  ["behind another file", { edits: [change("a.txt"), change("secret.txt")] }],
])("a protected file %s is refused with the whole call", async (_where, args) => {
  expect(await edited(args, refuses)).toMatchObject({ isError: true, output: "one\none\n" });
});

it("shows one file at a time in the form of pi, and takes what a handler makes of it", async () => {
  const { isError, output, seen } = await edited(
    { edits: [change("a.txt"), change("secret.txt")] },
    `if (event.input.path === "a.txt") event.input.edits[0].newText = "three";`,
  );
  expect({ isError, output }).toEqual({ isError: false, output: "three\ntwo\n" });
  const pi = { oldText: "one", newText: "two" };
  expect(seen).toMatchObject([
    { path: "a.txt", edits: [pi] },
    { path: "secret.txt", edits: [pi] },
  ]);
});
