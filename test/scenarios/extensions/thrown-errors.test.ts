// When an extension's code throws: the model reads the message, its author reads the stack, once for every place.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

it("a tool, a tool of an extension, a hook, a listener", async () => {
  home.put(
    ".galley/agent/tools/one.ts",
    `export default () => ({ name: "one", description: "Throws", approval: "read", parameters: { type: "object" },
  onSession({ reason }) { if (reason === "start") throw new Error("deaf"); },
  async execute() {
    throw new Error("no luck");
  } });`,
  );
  home.put(
    ".galley/agent/extensions/two.ts",
    `export default (pi) => {
  pi.registerTool({ name: "two", description: "Throws", approval: "read", parameters: { type: "object" },
    prepareArguments: (args) => args,
    execute: async () => { throw new Error("no luck either"); } });
  pi.on("turn_end", () => { throw new TypeError("no disk"); });
};`,
  );
  const script = [call("one", {}, "1"), call("one", {}, "2"), call("two", {}, "3"), say("Done.")];
  const log = join(home.base, "log");
  const { session, lines, texts } = await home.open(script, { env: { GALLEY_LOG: log, HOME: home.base } });
  const errors: unknown[] = [];
  session.onReport((report) => void errors.push(report));
  await session.prompt("Go");
  await session.dispose();
  expect(texts()).toEqual(["no luck", "no luck", "no luck either"]);

  const [one, two] = ["tools/one.ts", "extensions/two.ts"].map((name) => join(home.base, ".galley/agent", name));
  const said = lines.map((line) => line.split("\n").slice(0, 2).join("\n"));
  expect(said.map((line) => line.replace(/:\d+\)?$/, "").replace(/\n {4}at .*?(\/\S+:\d+)$/, "\n at $1"))).toEqual([
    `galley: ${one}: Custom tool onSession error {"tool":"one","error":"deaf"}\n at ${one}:2`,
    `galley: ${one}: tool one failed: no luck\n at ${one}:4`,
    `galley: ${two} turn_end: no disk\n at ${two}:5`,
    `galley: ${one}: tool one failed: no luck\n`,
    `galley: ${two} turn_end: no disk\n`,
    `galley: ${two}: tool two failed: no luck either\n at ${two}:4`,
    `galley: ${two} turn_end: no disk\n`,
    `galley: ${two} turn_end: no disk\n`,
  ]);
  expect(readFileSync(log, "utf8").match(/one\.ts:4/g)).toHaveLength(1);
  expect(errors).toContainEqual({ type: "extension_error", extensionPath: two, event: "turn_end", error: "no disk" });
  expect(JSON.stringify(errors)).not.toContain(" at ");
});

it("a call that was stopped is no failure of the tool", async () => {
  home.put(
    ".galley/agent/tools/slow.ts",
    `export default () => ({ name: "slow", description: "Waits", approval: "read", parameters: { type: "object" },
  execute: (id, params, onUpdate, ctx, signal) => new Promise((resolve, reject) =>
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true })) });`,
  );
  const { session, lines } = await home.open([call("slow", {})]);
  session.subscribe((event) => {
    if (event.type === "tool_execution_start") setImmediate(() => void session.abort());
  });
  await session.prompt("Go");
  await session.dispose();
  expect(lines).toEqual([]);
});
