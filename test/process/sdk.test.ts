// A program that has nothing open but a session of ours: it lives as long as what it awaits of us.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { emptyHome, projectRoot, run } from "../kit/run-galley.js";

let home = emptyHome();
beforeEach(() => {
  home = emptyHome();
  mkdirSync(join(home.home, "agent"));
  writeFileSync(join(home.home, "agent/config.yml"), "retry: { baseDelayMs: 20 }\n");
});
afterEach(() => home.remove());

/** `body` has `open(steps, tools)`, which gives a session, and everything of `galley/testing`. */
function program(body: string) {
  const door = (name: string) => JSON.stringify(new URL(`file://${join(projectRoot, "dist", name)}`).href);
  const file = join(home.home, "program.mjs");
  writeFileSync(
    file,
    `import { createAgentSession } from ${door("sdk.js")};
import { call, fail, say, scriptedModel, scriptedProviderModel } from ${door("testing.js")};
const overloaded = fail("overloaded", { failure: { kind: "overloaded" } });
const open = async (steps, customTools = []) => {
  const where = { cwd: ${JSON.stringify(home.home)}, agentDir: ${JSON.stringify(join(home.home, "agent"))}, env: {} };
  const model = { model: scriptedProviderModel, streamFn: scriptedModel(steps).stream };
  return (await createAgentSession({ ...where, ...model, customTools })).session;
};
${body}`,
  );
  return run(process.execPath, [file], { env: home.env });
}

it("is there for the answer that comes after a retry", async () => {
  const outcome = await program(`
    const session = await open([overloaded, say("after all")]);
    await session.prompt("hi");
    console.log(session.getLastAssistantText());
    await session.dispose();`);
  expect(outcome).toEqual({ code: 0, stdout: "after all\n", stderr: "" });
});

it("is there for the end of a tool that will not stop", async () => {
  const outcome = await program(`
    let begun;
    const hasBegun = new Promise((resolve) => { begun = resolve; });
    const execute = () => { begun(); return new Promise(() => {}); };
    const stuck = { name: "stuck", label: "Stuck", description: "never ends", parameters: { type: "object" }, execute };
    const session = await open([call("stuck", {})], [stuck]);
    const running = session.prompt("hi");
    await hasBegun;
    await session.dispose();
    await running;
    console.log("over");`);
  expect(outcome).toEqual({ code: 0, stdout: "over\n", stderr: "" });
});

it("a session is one worker's alone in a cluster, where Node shares sockets", async () => {
  const outcome = await program(`
    import cluster from "node:cluster";
    import { once } from "node:events";
    import { SessionManager } from ${JSON.stringify(new URL(`file://${join(projectRoot, "dist/sdk.js")}`).href)};
    const where = { cwd: ${JSON.stringify(home.home)}, agentDir: ${JSON.stringify(join(home.home, "agent"))} };
    const path = ${JSON.stringify(join(home.home, "s.jsonl"))};
    if (cluster.isPrimary) {
      const made = SessionManager.create(where, {}, path);
      made.append({ type: "message", message: { role: "user", content: "hi", timestamp: 1 } });
      await made.flush();
      await made.close();
      const first = cluster.fork();
      console.log((await once(first, "message"))[0]);
      const second = cluster.fork();
      console.log((await once(second, "message"))[0]);
      for (const worker of [first, second]) worker.process.kill();
    } else {
      const { readOnlyReason } = await SessionManager.open(path, where);
      process.send(readOnlyReason === undefined ? "writes" : "reads");
      setInterval(() => {}, 1000);
    }`);
  expect(outcome).toEqual({ code: 0, stdout: "writes\nreads\n", stderr: "" });
});
