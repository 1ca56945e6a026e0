import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import { GalleyError } from "../../base/errors.js";
import { silentLog } from "../../base/log.js";
import { decideOne } from "../../pending/decide/decided.test-kit.js";
import { PendingActionStore } from "../../pending/store/pending-action-store.js";
import { withoutSession } from "../../plans/change-writer.js";
import { type PlannedChange, stampOf } from "../../plans/plan.js";
import type { ActionWork } from "../../plans/stored-action.js";
import { createNodeProcesses } from "../../processes/node-processes.js";
import type { FileStamp } from "../../protocol/pending.js";
import { execProgram } from "./tool-api-exec.js";
import type { FileChange, ToolPendingActions } from "./tool-api-pending.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const processes = createNodeProcesses({ env: { PATH: process.env.PATH }, log: silentLog });
afterAll(() => processes.shutdown());

describe("exec", () => {
  const exec = (command: string, args: string[], options = {}) =>
    execProgram({ processes, cwd: modules.directory }, { command, args }, options);
  const node = (script: string, options = {}) => exec(process.execPath, ["-e", script], options);

  it("answers with output and exit code", async () => {
    const script = 'process.stdout.write("out é"); process.stderr.write("bad"); process.exit(3)';
    expect(await node(script)).toEqual({ stdout: "out é", stderr: "bad", code: 3, killed: false });
  });

  it("runs where it is told, with input and variables", async () => {
    modules.write({ "sub/x.txt": "" });
    const script = 'process.stdin.on("data", (d) => process.stdout.write(process.cwd() + d + process.env.WORD))';
    expect(await node(script, { cwd: "sub", input: "|in|", env: { WORD: "w" } })).toMatchObject({
      stdout: `${modules.directory}/sub|in|w`,
    });
  });

  it("a missing program: 127", async () => {
    const expected = { stdout: "", stderr: "spawn no-such-program ENOENT", code: 127, killed: false };
    expect(await exec("no-such-program", [])).toEqual(expected);
    expect(await exec("./nor-this", [])).toEqual({ ...expected, stderr: "spawn ./nor-this ENOENT" });
  });

  it("a path means a file where it runs", async () => {
    symlinkSync(process.execPath, join(modules.directory, "mine"));
    expect(await exec("./mine", ["-e", "console.log(1)"])).toMatchObject({ stdout: "1\n", code: 0 });
  });

  it("what cannot start: 126", async () => {
    const { code, stderr } = await node("1", { cwd: "nowhere" });
    expect([code, stderr]).toEqual([126, `Working directory does not exist: ${modules.directory}/nowhere`]);
  });

  it("a timeout and an abort kill", async () => {
    expect(await exec("sleep", ["30"], { timeout: 50 })).toMatchObject({ killed: true, code: 143 });
    const controller = new AbortController();
    const running = exec("sleep", ["30"], { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ killed: true, code: 143 });
    expect(await exec("sleep", ["30"], { signal: AbortSignal.abort() })).toMatchObject({ killed: true });
  });

  it("a signal from elsewhere: 128 + n", async () => {
    const outcome = await node("process.kill(process.pid, 'SIGUSR2'); setInterval(() => {}, 1000)");
    expect(outcome).toMatchObject({ code: 128 + 12, killed: false });
  });

  it("five megabytes on both streams", async () => {
    const script = 'const b = "x".repeat(5e6); process.stderr.write(b); process.stdout.write(b)';
    const { stdout, stderr } = await node(script);
    expect([stdout.length, stderr.length]).toEqual([5e6, 5e6]);
  });

  it("keeps no more than it is told to", async () => {
    const outcome = await node('process.stdout.write("x".repeat(1e6))', { maxBytes: 10 });
    expect(outcome).toEqual({ stdout: "xxxxxxxxxx", stderr: "", code: 0, killed: false, truncated: true });
  });
});

describe("pushPendingAction", () => {
  const store = () => new PendingActionStore({ clock: modules.clock });
  const stage = (action: string) => moduleThatSays("stager", `String(await pi.pushPendingAction(${action}))`);
  const ok = "({ content: [{ type: 'text', text: 'done ' + reason + JSON.stringify(extra) }] })";

  function actions(held: PendingActionStore, files: Record<string, string> = {}): ToolPendingActions {
    const bytes = (path: string) => (files[path] === undefined ? undefined : Buffer.from(files[path]));
    const stamp = (path: string): FileStamp => {
      const found = bytes(path);
      return stampOf(path, found && { bytes: found, mode: 0o644 });
    };
    return {
      push: (action) => held.push(action),
      nextId: () => held.nextId(),
      stamp: async (paths) => paths.map((path) => ({ path, stamp: stamp(path) })),
      plan: async (changes: readonly FileChange[]) =>
        changes.map(({ path, after }): PlannedChange => {
          if (path.startsWith("/")) throw new GalleyError("file_refused", `${path} is outside`);
          const before = bytes(path) ?? Buffer.alloc(0);
          return { kind: "modify", path, stamp: stamp(path), before, after: Buffer.from(after ?? "") };
        }),
    };
  }

  it("without a store it says so", async () => {
    modules.write({ "a.ts": stage("{ label: 'L', apply: async () => {} }") });
    const loaded = await modules.load(["a.ts"]);
    await expect(callTool(loaded, "stager")).rejects.toThrow(
      "Pending action store unavailable for custom tools in this runtime.",
    );
  });

  it.each(["{}", "null", "{ label: ' ', apply() {} }", "{ label: 'L' }", "{ label: 'L', apply: 1 }"])(
    "refuses %s",
    async (action) => {
      modules.write({ "a.ts": stage(action) });
      const held = store();
      const loaded = await modules.load(["a.ts"], { pending: actions(held) });
      await expect(callTool(loaded, "stager")).rejects.toThrow(
        "pushPendingAction requires a label and an apply callback.",
      );
      expect(held.size).toBe(0);
    },
  );

  it("stages callbacks that get reason and extra", async () => {
    const action = `{ label: "L", details: { n: 1 }, apply: async (reason, extra) => ${ok}, reject: async (reason) => undefined }`;
    modules.write({ "a.ts": stage(action) });
    const held = store();
    const loaded = await modules.load(["a.ts"], { pending: actions(held) });
    expect(await textOf(callTool(loaded, "stager"))).toBe("pa_1");
    expect(held.peek()).toMatchObject({
      label: "L",
      sourceToolName: "custom_tool",
      toolCallId: "call_1",
      details: { n: 1 },
      kind: "closure",
    });
    const settings = () => ({ maxAttempts: 5, decider: "model" as const, requireUser: false });
    const changes = { apply: () => Promise.reject(new Error("no plan here")) };
    const decision = { action: "apply" as const, reason: "why", by: "model" as const, extra: { a: 1 } };
    const { result } = await decideOne({ store: held, settings, changes, session: withoutSession }, "pa_1", decision);
    expect(result.content).toEqual([{ type: "text", text: 'done why{"a":1}' }]);
  });

  it("belongs to no call when it comes from a timer of the module", async () => {
    const action = "{ label: 'L', sourceToolName: 'mine', apply: async () => ({ content: [] }) }";
    modules.write({
      "a.ts": `export default async (pi) => { await new Promise((done) => setTimeout(() => done(pi.pushPendingAction(${action})), 0)); return null; };`,
    });
    const held = store();
    const { errors } = await modules.load(["a.ts"], { pending: actions(held) });
    expect(errors).toEqual([]);
    expect(held.peek()).toMatchObject({ sourceToolName: "mine" });
    expect(held.peek()?.toolCallId).toBeUndefined();
  });

  it("does not apply when a file it rests on has changed", async () => {
    const files: Record<string, string> = { "a.txt": "one", "b.txt": "two" };
    modules.write({ "a.ts": stage("{ label: 'L', files: ['a.txt', 'b.txt'], apply: async () => ({ content: [] }) }") });
    const held = store();
    const loaded = await modules.load(["a.ts"], { pending: actions(held, files) });
    await callTool(loaded, "stager");
    const { work } = held.get("pa_1") ?? {};
    if (work?.kind !== "closure") throw new Error("not a closure");
    const info = { id: "pa_1", by: "model" as const };
    expect(await work.apply("r", undefined, info)).toEqual({ content: [] });
    files["b.txt"] = "2";
    await expect(work.apply("r", undefined, info)).rejects.toMatchObject({
      code: "stale_preview",
      details: { files: ["b.txt"], total: 2 },
    });
  });

  it("has the files it rests on with it from the start, and is not there at all when they are refused", async () => {
    const action = (files: string) => `{ label: 'L', files: ${files}, apply: async () => ({ content: [] }) }`;
    const both = `(pi.pushPendingAction(${action("['a.txt']")}), pi.pushPendingAction(${action("['.env']")}), "fine")`;
    modules.write({ "a.ts": moduleThatSays("stager", both) });
    const held = store();
    const added: unknown[] = [];
    held.on("change", (change) => added.push(change));
    const pending = actions(held, { "a.txt": "one" });
    const stamp: ToolPendingActions["stamp"] = async (paths) => {
      if (paths.includes(".env")) throw new Error(".env may hold secrets");
      return pending.stamp(paths);
    };
    const loaded = await modules.load(["a.ts"], { pending: { ...pending, stamp } });
    await expect(callTool(loaded, "stager")).rejects.toThrow(".env may hold secrets");
    expect(added).toMatchObject([
      { type: "pending_action_added", action: { id: "pa_1", files: [{ path: "a.txt", exists: true, size: 3 }] } },
    ]);
    expect(held.size).toBe(1);
  });

  it("stages in the order of the calls, whichever file is read first", async () => {
    const first = "{ label: 'first', files: ['slow'], apply: async () => ({ content: [] }) }";
    const second = "{ label: 'second', plan: [{ path: 'a.txt', after: 'new' }] }";
    const both = `(pi.pushPendingAction(${first}), pi.pushPendingAction(${second}), "fine")`;
    modules.write({ "a.ts": moduleThatSays("stager", both) });
    const held = store();
    const pending = actions(held, { "a.txt": "one" });
    const stamp: ToolPendingActions["stamp"] = async (paths) => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return pending.stamp(paths);
    };
    const loaded = await modules.load(["a.ts"], { pending: { ...pending, stamp } });
    await callTool(loaded, "stager");
    expect(held.list().map(({ action }) => action.label)).toEqual(["second", "first"]);
  });

  it("stages a plan as bytes, with the callback for afterwards", async () => {
    const action = `{ label: "L", plan: [{ path: "a.txt", after: "new" }], apply: async (reason, extra) => ${ok} }`;
    modules.write({ "a.ts": stage(action) });
    const held = store();
    const loaded = await modules.load(["a.ts"], { pending: actions(held, { "a.txt": "old" }) });
    expect(await textOf(callTool(loaded, "stager"))).toBe("pa_1");
    const work = held.get("pa_1")?.work as Extract<ActionWork, { kind: "plan" }>;
    expect(work.plan.changes).toMatchObject([
      { path: "a.txt", before: Buffer.from("old"), after: Buffer.from("new"), stamp: { exists: true, size: 3 } },
    ]);
    expect(work.plan.applied).toEqual({ text: "Applied: L." });
    expect(await work.afterApply?.("r", undefined, { id: "pa_1", by: "user" })).toMatchObject({
      content: [{ text: "done rundefined" }],
    });
  });

  it("a plan that is refused fails the call, waited for or not", async () => {
    const action = '{ label: "L", plan: [{ path: "/etc/x", after: null }] }';
    modules.write({ "a.ts": moduleThatSays("stager", `(pi.pushPendingAction(${action}), "fine")`) });
    const held = store();
    const loaded = await modules.load(["a.ts"], { pending: actions(held) });
    await expect(callTool(loaded, "stager")).rejects.toThrow("/etc/x is outside");
    expect(held.size).toBe(0);
  });
});

describe("the rest of the API", () => {
  it("has a directory, a logger for every level, and the host's exports", async () => {
    const traced: string[] = [];
    modules.write({
      "a.ts": moduleThatSays(
        "teller",
        '(["debug", "info", "warn", "error"].forEach((level) => pi.logger[level](level, { n: 1 })), pi.logger.warn("bare"), [pi.cwd, pi.pi.word, pi.pi === galley])',
        'import * as galley from "galley";',
      ),
    });
    const loaded = await modules.load(["a.ts"], {
      hostModules: { galley: async () => ({ word: "host" }) },
      log: { ...modules.log, trace: (level, text) => traced.push(`${level}: ${text}`) },
    });
    expect(loaded.errors).toEqual([]);
    expect(JSON.parse(await textOf(callTool(loaded, "teller")))).toEqual([modules.directory, "host", true]);
    expect(traced).toEqual(['debug: debug {"n":1}', 'info: info {"n":1}']);
    expect(modules.warnings).toEqual(['warn {"n":1}', 'error {"n":1}', "bare"]);
  });
});
