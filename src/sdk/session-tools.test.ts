import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { Settings } from "../config/settings/settings.js";
import type { ToolResult } from "../protocol/events.js";
import type { SessionToolDeps } from "../session/agent-session-deps.js";
import { createMemoryChangeWriter } from "../testing/memory-change-writer.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { type AnyTool, textResult } from "../tools/tool.js";
import { SessionAccess } from "./access/access-mode.js";
import { ConfinedCommands } from "./sandbox/confined-commands.js";
import { findSessionEnvironment } from "./session-environment.js";
import type { CreateAgentSessionOptions } from "./session-options.js";
import { SessionTools, type SessionToolsDeps } from "./session-tools.js";
import { createToolResources } from "./tool-resources.js";

async function setUp(options: CreateAgentSessionOptions = {}, deps: Partial<SessionToolsDeps> = {}) {
  const home = temporaryDirectory();
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const environment = await findSessionEnvironment({
    cwd,
    agentDir: join(home, "agent"),
    env: {},
    settings: new Settings(),
    ...options,
  });
  const resources = createToolResources({ ...environment, permit: undefined });
  const changes = createMemoryChangeWriter(createMemoryWorkspace({}));
  const given = { agent: [], custom: [] };
  const access = new SessionAccess(environment.settings);
  const unused = () => expect.fail("nothing is staged here");
  const confinement = new ConfinedCommands({}, { environment, access, pending: unused, record: unused });
  const tools = new SessionTools(
    { environment, resources, access, confinement, changes, given, user: {}, ...deps },
    options,
  );
  const undo = vi.fn();
  const resolve = vi.fn(async () => textResult("resolved"));
  const reserve = vi.fn();
  const session = { todos: {}, artifacts: {}, pending: { resolve }, changes: { undo } } as unknown as SessionToolDeps;
  return { home, cwd, tools, undo, resolve, reserve, create: () => tools.create(session, reserve) };
}

const names = (tools: readonly AnyTool[]) => tools.map(({ name }) => name);
const named = (tools: readonly AnyTool[], name: string) =>
  tools.find((tool) => tool.name === name) ?? expect.fail(name);

function own(name: string): AnyTool {
  const execute = async () => textResult(name);
  return { name, label: name, description: name, parameters: { type: "object" }, execute };
}

/** What a call of it answers. */
async function run(tool: AnyTool, params: object, cwd: string): Promise<string> {
  const { content }: ToolResult = await tool.execute("c1", params as never, undefined, () => {}, { cwd });
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

describe("the tools of a session", () => {
  it("are the built-in ones, undo and resolve", async () => {
    const tools = (await setUp()).create();
    for (const name of ["read", "write", "edit", "bash", "grep", "find", "ast_edit", "undo", "resolve"])
      expect(names(tools).filter((one) => one === name)).toEqual([name]);
    expect(named(tools, "undo").hidden).toBe(true);
    expect(names(tools).at(-1)).toBe("resolve");
  });

  it("are those that are named, and undo is shown where it is one of them", async () => {
    const tools = (await setUp({ toolNames: ["read", "undo"] })).create();
    expect(names(tools)).toEqual(["read", "undo", "resolve"]);
    expect(named(tools, "undo").hidden).toBe(false);
    const { create } = await setUp({ toolNames: ["raed"] });
    expect(create).toThrow('Unknown tool "raed".');
  });

  it("leave out what the settings switch off", async () => {
    const settings = new Settings({ overrides: new Map([["grep.enabled", false]]) as never });
    const tools = (await setUp({ settings })).create();
    expect(names(tools)).not.toContain("grep");
    expect(names(tools)).toContain("read");
  });

  it("work on the session: resolve decides in it, undo takes back in it", async () => {
    const { cwd, create, resolve, undo } = await setUp();
    const tools = create();
    const params = { action: "apply", reason: "fine" };
    expect(await run(named(tools, "resolve"), params, cwd)).toBe("resolved");
    expect(resolve).toHaveBeenCalledWith(params);
    undo.mockRejectedValue(new Error("nothing to undo"));
    await expect(run(named(tools, "undo"), {}, cwd)).rejects.toThrow("nothing to undo");
    expect(undo).toHaveBeenCalledTimes(1);
  });

  it("reserve every name, also of a tool that was not chosen", async () => {
    const { create, reserve } = await setUp({ toolNames: ["read"] }, { given: { agent: [own("mine")], custom: [] } });
    create();
    expect(reserve.mock.calls[0]?.[0]).toEqual(expect.arrayContaining(["read", "bash", "undo", "resolve", "mine"]));
  });
});

describe("a tool that the program hands over", () => {
  it("takes no name that is taken, unless it may replace built-in tools", async () => {
    const given = { agent: [own("read")], custom: [] };
    const { create } = await setUp({}, { given });
    expect(create).toThrow('Tool name "read" conflicts with existing tool');
    const replacing = (await setUp({ overrideBuiltins: true }, { given })).create();
    expect(names(replacing).filter((name) => name === "read")).toEqual(["read"]);
    expect(named(replacing, "read")).toBe(given.agent[0]);
  });

  it("never replaces resolve", async () => {
    const given = { agent: [own("resolve")], custom: [] };
    const { create } = await setUp({ overrideBuiltins: true }, { given });
    expect(create).toThrow('Tool name "resolve" conflicts with existing tool');
  });
});

describe("the tools of another directory", () => {
  it("are none before the session's own are made", async () => {
    const { tools, cwd } = await setUp();
    expect(tools.staging).toBeUndefined();
    expect(tools.in(cwd)).toEqual([]);
  });

  it("read there, and stage with the session", async () => {
    const { tools, home, cwd, create } = await setUp();
    create();
    expect(tools.staging?.mode()).toBe("auto");
    const other = join(home, "other");
    mkdirSync(other);
    writeFileSync(join(other, "a.txt"), "over there\n");
    const read = (directory: string) => run(named(tools.in(directory), "read"), { path: "a.txt" }, directory);
    expect(await read(other)).toContain("over there");
    await expect(read(cwd)).rejects.toThrow("a.txt");
  });

  it("are refused where the host brought the workspace", async () => {
    const { tools, home, cwd, create } = await setUp({ workspace: createMemoryWorkspace({}) as never });
    create();
    expect(names(tools.in(cwd))).toContain("read");
    expect(() => tools.in(home)).toThrow("tools can be made only for the session's own directory.");
  });
});
