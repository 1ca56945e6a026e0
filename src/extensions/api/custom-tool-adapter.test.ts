import { describe, expect, it } from "vitest";
import { quietHost } from "../../../test/kit/tool-modules.js";
import { silentLog } from "../../base/log.js";
import { createRecordInMemory } from "../../record/open-record.js";
import { manualClock } from "../../testing/manual-clock.js";
import { tierOf } from "../../tools/tool.js";
import { type CustomTool, defineCustomTool, defineTool } from "./custom-tool.js";
import { adaptCustomTool } from "./custom-tool-adapter.js";
import type { CustomToolContext, ToolHost } from "./custom-tool-context.js";
import { notifyTools } from "./custom-tool-events.js";
import type { ToolFailure } from "./custom-tool-failure.js";
import { readonlySession } from "./custom-tool-session.js";
import { createLiveUI } from "./custom-tool-ui.js";

const clock = manualClock();
const live = createLiveUI({ clock, log: silentLog });
const resolvedPath = "/tools/t.ts";
const done = { content: [] };

function tool(more: Partial<CustomTool> = {}): CustomTool {
  return { name: "t", description: "d", parameters: { type: "object" }, execute: async () => done, ...more };
}

function adapt(custom: CustomTool, host: Partial<ToolHost> = {}) {
  return adaptCustomTool(
    { tool: custom, resolvedPath },
    { live, log: silentLog, host: () => ({ ...quietHost, ...host }) },
  );
}

it("removes invisible characters from descriptions and reports it", () => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (line: string) => void lines.push(line) };
  const custom = tool({ description: "Reads\u200b files\u{e0041}" });
  expect(adaptCustomTool({ tool: custom, resolvedPath }, { live, log, host: () => quietHost }).description).toBe(
    "Reads files",
  );
  expect(lines).toEqual(["/tools/t.ts: removed 1 tag character, 1 zero-width character from the description of t"]);
});

describe("execute", () => {
  const { signal } = new AbortController();
  const onUpdate = (partial: unknown) => void updates.push(partial);
  const updates: unknown[] = [];
  const progress = { content: [{ type: "text", text: "half" }] };

  it("gets its arguments in the order of custom tools, whether it says so or not", async () => {
    for (const mark of [defineCustomTool, (unmarked: CustomTool) => unmarked]) {
      const given: unknown[] = [];
      const custom = mark(
        tool({
          execute: async (...args: unknown[]) => {
            given.push(...args);
            return done;
          },
        }),
      );
      expect(await adapt(custom).execute("c", { a: 1 }, signal, onUpdate, { cwd: "/" })).toBe(done);
      expect([given[0], given[1], given[4]]).toEqual(["c", { a: 1 }, signal]);
      (given[2] as (partial: unknown) => void)(progress);
      expect(updates.pop()).toBe(progress);
      expect(given[3]).toMatchObject({ toolCallId: "c", signal });
    }
  });

  it("gets them in the order of extensions when it says so", async () => {
    const given: unknown[] = [];
    const custom = defineTool(
      tool({
        execute: async (...args: unknown[]) => {
          given.push(...args);
          return done;
        },
      }),
    );
    await adapt(custom).execute("c", {}, signal, onUpdate, { cwd: "/" });
    expect(given[2]).toBe(signal);
    (given[3] as (partial: unknown) => void)(progress);
    expect(updates.pop()).toBe(progress);
    expect(given[4]).toMatchObject({ toolCallId: "c" });
  });

  it("is called as a method, with a fresh context every time", async () => {
    const contexts: CustomToolContext[] = [];
    class Counter {
      name = "t";
      description = "d";
      parameters = {};
      count = 0;
      async execute(_id: string, _params: unknown, _onUpdate: unknown, ctx: CustomToolContext) {
        contexts.push(ctx);
        return { content: [{ type: "text" as const, text: `${++this.count}` }] };
      }
    }
    let model = { id: "one", provider: "acme" };
    const adapted = adapt(new Counter(), {
      get model() {
        return model;
      },
    });
    await adapted.execute("c1", {}, undefined, onUpdate, { cwd: "/" });
    model = { id: "two", provider: "acme" };
    const second = await adapt(new Counter(), { model }).execute("c2", {}, undefined, onUpdate, { cwd: "/" });
    expect(second.content).toEqual([{ type: "text", text: "1" }]);
    expect(contexts.map(({ toolCallId, model: seen }) => [toolCallId, seen?.id])).toEqual([
      ["c1", "one"],
      ["c2", "two"],
    ]);
  });
});

describe("what the loop is told", () => {
  it("names, schema and marks", () => {
    const plain = adapt(tool());
    expect(plain).toMatchObject({ name: "t", label: "t", description: "d", parameters: { type: "object" } });
    expect(Object.keys(plain)).not.toContain("hidden");
    const marked = adapt(tool({ label: "T", hidden: true, deferrable: true, strict: true }));
    expect(marked).toMatchObject({ label: "T", hidden: true, deferrable: true, strict: true });
  });

  it.each([
    [undefined, false, "exec"],
    [undefined, true, "write"],
    ["read", false, "read"],
    [{ tier: "write", reason: "r" }, false, "write"],
    [() => "read", false, "read"],
    [(args: { n: number }) => ({ tier: args.n === 1 ? "read" : "write" }), false, "read"],
    ["anything", true, "exec"],
    [
      () => {
        throw new Error("no idea");
      },
      false,
      "exec",
    ],
  ])("approval %s", (approval, deferrable, expected) => {
    const custom = tool({ deferrable, ...(approval === undefined ? {} : { approval: approval as "read" }) });
    expect(tierOf(adapt(custom), { n: 1 })).toBe(expected);
  });
});

describe("formatApprovalDetails", () => {
  const lines = (answer: unknown) =>
    adapt(tool({ formatApprovalDetails: answer as () => string })).approvalDetails?.({ n: 1 });

  it.each([
    ["a text", (args: { n: number }) => `one ${args.n}\ntwo`, ["one 1", "two"]],
    ["lines", () => ["one", "two\nthree"], ["one", "two", "three"]],
    ["nothing", () => undefined, undefined],
    ["an empty text", () => "", undefined],
    ["no lines", () => [], undefined],
    ["something else", () => ["a", 1], undefined],
    ["a promise", async () => "later", undefined],
    ["no function", "x", undefined],
    [
      "a failure",
      () => {
        throw new Error("no idea");
      },
      undefined,
    ],
  ])("answers %s", (_title, answer, expected) => expect(lines(answer)).toEqual(expected));

  it("cannot change what will run, and is bounded", () => {
    const args = { deep: { n: 1 } };
    const format = (given: typeof args) => {
      given.deep.n = 2;
      return "x".repeat(10_000_000);
    };
    const [line] = adapt(tool({ formatApprovalDetails: format })).approvalDetails?.(args) ?? [];
    expect(args).toEqual({ deep: { n: 1 } });
    expect(line?.length).toBeLessThan(1_000_000);
  });
});

describe("ctx", () => {
  it("shows the session and lets a tool ask for an abort", async () => {
    const record = createRecordInMemory({ cwd: "/project" });
    const entry = record.appendMessage({ role: "user", content: "hello", timestamp: 1 });
    record.setName("a name");
    record.setLabel(entry.id, "here");
    let aborts = 0;
    const host: ToolHost = {
      ...quietHost,
      sessionManager: readonlySession(() => record),
      isIdle: () => false,
      hasQueuedMessages: () => true,
      abort: () => void aborts++,
    };
    let seen: unknown;
    const execute: CustomTool["execute"] = async (_id, _params, _onUpdate, ctx) => {
      const { sessionManager: session } = ctx;
      ctx.abort();
      session.getEntries().length = 0;
      seen = {
        session: [session.getCwd(), session.getSessionId() === record.sessionId, session.getSessionName()],
        files: [session.getSessionFile(), session.getSessionDir(), session.getArtifactsDir()],
        branch: session.getBranch().map(({ id }) => id),
        entry: session.getEntry(entry.id)?.type,
        leaf: [session.getLeafId(), session.getLeafEntry()?.id, session.getLabel(entry.id)],
        header: session.getHeader().type,
        tree: session.getTree().length,
        artifact: await session.saveArtifact("long text"),
        usage: session.getUsageStatistics(),
        state: [ctx.isIdle(), ctx.hasQueuedMessages(), ctx.hasPendingMessages(), ctx.pending.hasPending],
      };
      return done;
    };
    await adapt(tool({ execute }), host).execute("c", {}, undefined, () => {}, { cwd: "/project" });
    expect(seen).toMatchObject({
      session: ["/project", true, "a name"],
      files: [undefined, undefined, undefined],
      branch: [entry.id],
      entry: "message",
      leaf: [entry.id, entry.id, "here"],
      header: "session",
      tree: 1,
      artifact: "1",
      usage: { userMessages: 1, cost: 0 },
      state: [false, true, true, false],
    });
    expect(aborts).toBe(1);
    expect(record.tree.entries).toHaveLength(3);
    expect(await record.artifacts.read("1")).toBe("long text");
  });
});

describe("onSession", () => {
  const names = (list: CustomTool[]) => list.map((custom) => ({ tool: custom, resolvedPath: `/${custom.name}.ts` }));

  it("tells every tool in order, whatever the others do", async () => {
    const heard: string[] = [];
    const warnings: string[] = [];
    const failures: ToolFailure[] = [];
    const tools = names([
      tool({ name: "first", onSession: (event) => void heard.push(`first ${event.reason}`) }),
      tool({
        name: "bad",
        onSession() {
          throw new Error("boom");
        },
      }),
      tool({ name: "rejects", onSession: () => Promise.reject(new Error("later")) }),
      tool({ name: "none" }),
      tool({
        name: "last",
        onSession: async (event, ctx) => void heard.push(`last ${event.reason} ${ctx.toolCallId}`),
      }),
    ]);
    const log = { warn: (text: string) => void warnings.push(text), error: (text: string) => void warnings.push(text) };
    const parts = {
      tools,
      clock,
      log,
      live,
      host: () => quietHost,
      onError: (failure: ToolFailure) => failures.push(failure),
    };
    await notifyTools(parts, { reason: "start", previousSessionFile: undefined });
    expect(heard).toEqual(["first start", "last start undefined"]);
    expect(warnings).toEqual([
      '/bad.ts: Custom tool onSession error {"tool":"bad","error":"boom"}',
      '/rejects.ts: Custom tool onSession error {"tool":"rejects","error":"later"}',
    ]);
    expect(failures[0]).toEqual({ extensionPath: "/bad.ts", event: "onSession:start", error: "boom" });
  });

  it.each([
    ["start", 5000],
    ["shutdown", 2000],
  ] as const)("waits for %s no longer than %d ms", async (reason, limit) => {
    const ownClock = manualClock();
    const warnings: string[] = [];
    const tools = names([tool({ onSession: () => new Promise(() => {}) })]);
    const log = { warn: (text: string) => void warnings.push(text), error() {} };
    const told = notifyTools(
      { tools, clock: ownClock, log, live, host: () => quietHost },
      { reason, previousSessionFile: undefined },
    );
    ownClock.advance(limit - 1);
    expect(ownClock.pendingTimers).toBe(1);
    ownClock.advance(1);
    await told;
    expect(warnings[0]).toContain(`it did not finish within ${limit / 1000} s`);
  });
});
