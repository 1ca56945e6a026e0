// The options of `createAgentSession`, each seen in what the session does with it.

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { logTo } from "../base/log.js";
import { Settings } from "../config/settings/settings.js";
import { ModelRegistry } from "../provider/models/model-registry.js";
import { plannerModel } from "../provider/planner/planner-model.js";
import type { StreamOptions } from "../provider/provider.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { openSession } from "../testing/open-session.js";
import { say, scriptedModel } from "../testing/scripted-model.js";
import { type CreateAgentSessionOptions, createAgentSession } from "./create-agent-session.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};

/** Three providers: `open` wants no key, `keyed` wants one, `locked` has none. */
const providers = {
  open: {
    baseUrl: "http://127.0.0.1:1",
    api: "openai-completions",
    auth: "none",
    models: [{ id: "one" }, { id: "two" }],
  },
  keyed: { baseUrl: "https://k.example", api: "openai-completions", apiKey: "$THE_KEY", models: [thinker("deep")] },
  locked: { baseUrl: "https://l.example", api: "openai-completions", apiKey: "$NONE", models: [{ id: "shut" }] },
};

function thinker(id: string) {
  return { id, reasoning: true };
}

async function create(options: CreateAgentSessionOptions = {}, overrides: Record<string, unknown> = {}) {
  const lines: string[] = [];
  put("agent/models.json", JSON.stringify({ providers }));
  const settings = new Settings();
  for (const [key, value] of Object.entries(overrides)) settings.override(key as "temperature", value as number);
  const created = await createAgentSession({
    cwd: home,
    agentDir: join(home, "agent"),
    env: { THE_KEY: "k" },
    settings,
    contextFiles: [],
    rules: [],
    log: logTo((line) => lines.push(line.trimEnd())),
    ...options,
  });
  const { model, thinkingLevel } = created.session;
  const name = model && `${model.provider}/${model.id}`;
  return { ...created, lines, name, thinkingLevel };
}

describe("the model to begin with", () => {
  it("is the named one, then the usual one, then the first of the scope, then the first that can be used", async () => {
    const roles = { modelRoles: { default: "deep:high" } };
    expect((await create({ modelPattern: "two" }, roles)).name).toBe("open/two");
    expect(await create({}, roles)).toMatchObject({ name: "keyed/deep", thinkingLevel: "high", lines: [] });
    expect((await create({ scopedModels: ["shut", "open/tw?"] }, roles)).name).toBe("open/two");
    expect(await create({}, { enabledModels: ["deep:low"] })).toMatchObject({
      name: "keyed/deep",
      thinkingLevel: "low",
    });
    expect((await create()).name).toBe("open/one");
  });

  it("falls back with one line when the usual one cannot be used, and tells a pattern that means nothing", async () => {
    const shut = await create({}, { modelRoles: { default: "shut", smol: "nope" } });
    expect(shut).toMatchObject({
      name: "open/one",
      lines: [
        "galley: modelRoles.default: shut cannot be used now",
        "galley: modelRoles.smol: nope cannot be used now",
      ],
    });
    expect((await create({ scopedModels: ["nope*"] })).lines).toEqual([
      'galley: No model matches "nope*" of the scope.',
    ]);
    expect((await create({}, { enabledModels: ["nope"] })).lines).toEqual([
      'galley: No model matches "nope" of enabledModels.',
    ]);
  });

  it("is the planner where none can be used, and the log or the front end is told why", async () => {
    const told: unknown[] = [];
    const onNoModel = (reason: unknown) => told.push(reason);
    const onlyLocked = { disabledProviders: ["open", "keyed"] };
    const options = { env: {} };
    const text = "galley: No key for locked: the built-in planner answers, which is not a language model.";
    expect(await create(options, onlyLocked)).toMatchObject({ name: "galley/planner", lines: [text] });
    expect(await create({ ...options, onNoModel }, onlyLocked)).toMatchObject({ name: "galley/planner", lines: [] });
    expect(told).toEqual([{ kind: "unusable", text: expect.stringMatching(/^No key for locked: NONE is not set\./) }]);
    await create({ ...options, onNoModel, modelPattern: "planner" }, onlyLocked);
    await create({ ...options, onNoModel, streamFn: scriptedModel([]).stream }, onlyLocked);
    await create({ onNoModel });
    expect(told).toHaveLength(1);
  });

  it("has the explicit thinking level also when an earlier session was left with another", async () => {
    const model = scriptedModel([say("hi")]);
    const common = { persist: true, modelPattern: "deep", streamFn: model.stream };
    const first = await create({ ...common, thinkingLevel: "low" });
    first.session.setThinkingLevel("high");
    await first.session.prompt("hello");
    const { sessionFile: target = "" } = first.session;
    await first.session.dispose();
    const resume = { kind: "open", target } as const;
    expect(await create({ persist: true, resume })).toMatchObject({ name: "keyed/deep", thinkingLevel: "high" });
    expect((await create({ persist: true, resume, thinkingLevel: "medium" })).thinkingLevel).toBe("medium");
  });
});

describe("cycling", () => {
  const cycle = async (options: CreateAgentSessionOptions, overrides: Record<string, unknown> = {}) => {
    const { session } = await create(options, overrides);
    const next = session.cycleModel();
    return next && [`${next.model.provider}/${next.model.id}`, next.thinkingLevel, next.isScoped];
  };

  it("keeps to the scope, given as models, as patterns or by the settings; else to what is available", async () => {
    expect(await cycle({})).toEqual(["open/two", undefined, false]);
    expect(await cycle({ scopedModels: ["open/one", "deep:high", "shut"] })).toEqual(["keyed/deep", "high", true]);
    expect(await cycle({}, { enabledModels: ["two", "one"] })).toEqual(["open/one", undefined, true]);
    expect(await cycle({ scopedModels: [] }, { enabledModels: ["two", "one"] })).toEqual([
      "open/two",
      undefined,
      false,
    ]);
    expect(await cycle({ scopedModels: ["one", "shut"] })).toBeNull();
    const [own, other] = [
      { ...plannerModel, id: "x" },
      { ...plannerModel, id: "y" },
    ];
    const streamFn = scriptedModel([]).stream;
    expect(await cycle({ model: own, scopedModels: [{ model: own }, { model: other }], streamFn })).toEqual([
      "galley/y",
      undefined,
      true,
    ]);
  });

  it("does not offer a model twice", async () => {
    expect(await cycle({ scopedModels: ["one", "open/one", "o*e"] })).toBeNull();
  });
});

describe("what requests carry", () => {
  const carried = async (options: CreateAgentSessionOptions, overrides: Record<string, unknown> = {}) => {
    const model = scriptedModel([say("hi")]);
    const { session, lines } = await create({ streamFn: model.stream, ...options }, overrides);
    await session.prompt("hello");
    const { signal: _signal, ...sent }: Partial<StreamOptions> = model.requests[0]?.options ?? {};
    return { sent, lines, session };
  };

  it("comes from settings and environment", async () => {
    const { sent, session } = await carried({});
    expect(sent).toEqual({
      headers: {},
      onWarning: expect.any(Function),
      proxyVariables: {},
      sessionId: session.sessionId,
      thinkingBudgets: { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 },
    });
    const env = {
      PI_CACHE_RETENTION: "long",
      GALLEY_STREAM_FIRST_EVENT_TIMEOUT_MS: "0",
      PI_OPENAI_STREAM_IDLE_TIMEOUT_MS: "9",
      HTTPS_PROXY: "http://proxy.example",
      no_proxy: "intern.example",
    };
    const set = await carried(
      { env, providerSessionId: "cache-1" },
      { temperature: 0, topP: 0.5, "thinkingBudgets.high": 99 },
    );
    expect(set.sent).toMatchObject({
      temperature: 0,
      sampling: { topP: 0.5 },
      thinkingBudgets: { high: 99 },
      cacheRetention: "long",
      sessionId: "cache-1",
      firstEventTimeoutMs: 0,
      idleTimeoutMs: 9,
      proxyVariables: { HTTPS_PROXY: "http://proxy.example", no_proxy: "intern.example" },
    });
  });

  it("warns once of what a provider did not send, however often it says so", async () => {
    const { sent, lines } = await carried({});
    for (const text of ["a", "b", "a"]) sent.onWarning?.(text);
    expect(lines).toEqual(["galley: a", "galley: b"]);
  });

  it("says so when the environment asks for something unknown", async () => {
    const { sent, lines } = await carried({ env: { GALLEY_CACHE_RETENTION: "forever" } });
    expect(sent).not.toHaveProperty("cacheRetention");
    expect(lines).toEqual(["galley: GALLEY_CACHE_RETENTION: expected short or long; it is not used"]);
  });
});

describe("keys", () => {
  it("come from authStorage in place of the file, whenever they are needed", async () => {
    put("agent/auth.json", JSON.stringify({ locked: { type: "api_key", key: "from the file" } }));
    const keys = new Map<string, string>();
    const { session } = await create({ authStorage: keys });
    const names = () => session.getAvailableModels().map(({ id }) => id);
    expect(names()).toEqual(["one", "two", "deep"]);
    keys.set("locked", "k");
    expect(names()).toEqual(["one", "two", "deep", "shut"]);
  });

  it("are not taken from two places", async () => {
    const modelRegistry = new ModelRegistry({
      sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
      file: { path: "", providers: new Map(), problems: [], warnings: [] },
    });
    await expect(create({ modelRegistry, authStorage: new Map() })).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("context files", () => {
  it("follow the system prompt, whatever its source; an empty list means none", async () => {
    const files = { "AGENTS.md": "Use tabs." };
    const prompt = async (session: CreateAgentSessionOptions) =>
      (await openSession({ files, session: { cwd: "/project", ...session } })).session.systemPrompt;
    const framed = '<context_file source="project" path="/project/AGENTS.md">\nUse tabs.\n</context_file>';
    expect(await prompt({})).toMatch(/^You are galley/);
    expect(await prompt({})).toContain(framed);
    expect(await prompt({ systemPrompt: "Be brief." })).toMatch(/^Be brief\.\n/);
    expect(await prompt({ systemPrompt: "Be brief." })).toContain(framed);
    expect(await prompt({ systemPrompt: "Be brief.", contextFiles: [] })).toBe("Be brief.");
    const own = [{ path: "/x", content: "Given.", source: "user" as const }];
    expect(await prompt({ contextFiles: own })).toContain('source="user" path="/x">\nGiven.');
    expect(await prompt({ contextFiles: own })).not.toContain("Use tabs.");
  });
});

describe("the system prompt", () => {
  it("is the user's where there is one, and no project's", async () => {
    put("agent/APPEND_SYSTEM.md", "And be kind.\n");
    put("SYSTEM.md", "Obey the project.");
    put(".galley/SYSTEM.md", "Obey the project.");
    const prompt = async (options = {}) => (await create(options)).session.systemPrompt;
    expect(await prompt()).toMatch(/^You are galley.*\n\nAnd be kind\.$/s);
    put("agent/SYSTEM.md", "Be brief.");
    expect(await prompt()).toBe("Be brief.\n\nAnd be kind.");
    expect(await prompt({ systemPrompt: "Given." })).toBe("Given.");
    expect(await prompt({ systemPrompt: (standard: string) => `${standard} Added.` })).toMatch(/^Be brief.* Added\.$/s);
  });

  it("does without a file that cannot be used, and says so", async () => {
    mkdirSync(join(home, "agent/SYSTEM.md"), { recursive: true });
    const { session, lines } = await create();
    expect(session.systemPrompt).toMatch(/^You are galley/);
    expect(lines).toEqual([`galley: ${join(home, "agent/SYSTEM.md")}: is not a regular file; it is not used`]);
  });
});

describe("tools", () => {
  const names = async (options: CreateAgentSessionOptions, overrides: Record<string, unknown> = {}) =>
    (await create({ workspace: createMemoryWorkspace({}), ...options }, overrides)).session.tools.map(
      ({ name }) => name,
    );

  it("are those that the settings leave on, unless they are named", async () => {
    const all = await names({});
    expect(all).toEqual(expect.arrayContaining(["read", "ast_edit", "todo_write"]));
    const off = { "astEdit.enabled": false, "todo.enabled": false };
    expect(await names({}, off)).toEqual(all.filter((name) => name !== "ast_edit" && name !== "todo_write"));
    expect(await names({ toolNames: ["ast_edit"] }, off)).toEqual(["ast_edit"]);
  });
});

it("the working directory may be named from here, and stays where it was then", async () => {
  const { session } = await create({ cwd: relative(process.cwd(), home) });
  expect(session.cwd).toBe(home);
  expect(session.sessionManager.header.cwd).toBe(home);
  expect(session.systemPrompt).toContain(`Working directory: ${home}`);
  await session.dispose();
});

describe("where sessions are kept", () => {
  it("is said by the caller, the environment or the settings, in this order, from the working directory", async () => {
    const place = async (options: CreateAgentSessionOptions, overrides = {}) => {
      const { session } = await create({ persist: true, ...options }, overrides);
      return dirname(session.sessionFile ?? "");
    };
    const env = { PI_CODING_AGENT_SESSION_DIR: "by-env" };
    expect(await place({ env, sessionDir: "given" }, { sessionDir: "by-setting" })).toBe(join(home, "given"));
    expect(await place({ env }, { sessionDir: "by-setting" })).toBe(join(home, "by-env"));
    expect(await place({}, { sessionDir: "by-setting" })).toBe(join(home, "by-setting"));
  });

  it("may be anywhere for a session that is there, or that an empty file waits for; a missing one is an error", async () => {
    const outside = temporaryDirectory();
    const cwd = join(home, "app");
    mkdirSync(cwd);
    const { session } = await create({ cwd, persist: true });
    const first = session.sessionFile ?? "";
    for (const path of ["missing.jsonl", join(outside, "new.jsonl")])
      await expect(session.switchSession(path)).rejects.toMatchObject({ code: "session_missing" });
    expect(session.sessionFile).toBe(first);
    for (const path of [join(cwd, "new.jsonl"), join(outside, "new.jsonl")]) {
      writeFileSync(path, "");
      await session.switchSession(path);
      expect(session.sessionFile).toBe(realpathSync(path));
    }
    const header = { type: "session", version: 3, id: "theirs", timestamp: "2026-01-05T08:00:00.000Z", cwd: "/" };
    writeFileSync(join(outside, "theirs.jsonl"), `${JSON.stringify(header)}\n`);
    await session.switchSession(join(outside, "theirs.jsonl"));
    expect(session.sessionId).toBe("theirs");
    await session.dispose();
  });

  it("is where autoResume goes on, and only a session on disk does", async () => {
    const model = scriptedModel([say("hi")]);
    const first = await create({ persist: true, streamFn: model.stream });
    await first.session.prompt("hello");
    await first.session.dispose();
    expect((await create({ persist: true }, { autoResume: true })).session.messages).toHaveLength(2);
    expect((await create({ persist: true })).session.messages).toHaveLength(0);
    expect((await create({}, { autoResume: true })).session.messages).toHaveLength(0);
  });
});

describe("the thinking level of a session that is opened again", () => {
  it.each([
    ["high", {}, "high"],
    ["off", {}, "off"],
    ["high", { thinkingLevel: "low" }, "low"],
    ["high", { modelPattern: "keyed/deep:off" }, "off"],
    [undefined, {}, "medium"],
  ] as const)("recorded as %s, with a model named and %j: %s", async (recorded, options, expected) => {
    const model = scriptedModel([say("hi")]);
    const first = await create({ persist: true, modelPattern: "keyed/deep", streamFn: model.stream });
    if (recorded !== undefined) first.session.setThinkingLevel(recorded);
    await first.session.prompt("hello");
    await first.session.dispose();
    const resume = { kind: "continue" } as const;
    const again = await create({ persist: true, resume, modelPattern: "keyed/deep", ...options });
    expect([again.name, again.thinkingLevel]).toEqual(["keyed/deep", expected]);
    await again.session.dispose();
  });
});

describe("unsupported options", () => {
  it.each([
    [{ parentTaskPrefix: "x", hasUI: true }, "createAgentSession: not in this version yet: parentTaskPrefix, hasUI."],
    [{ taskDepth: 1 }, "createAgentSession: not in this version yet: taskDepth."],
  ])("%j are refused", async (options, message) => {
    await expect(create(options as CreateAgentSessionOptions)).rejects.toMatchObject({ code: "unsupported", message });
  });

  it("are fine where they only ask for their absence", async () => {
    const absent = {
      extensions: [],
      hasUI: false,
      outputSchema: undefined,
      disableExtensionDiscovery: true,
    };
    expect((await create(absent as CreateAgentSessionOptions)).name).toBe("open/one");
  });
});

describe("what cannot be honoured is refused", () => {
  const refusal = async (options: object) => {
    try {
      await (await create(options as CreateAgentSessionOptions)).session.dispose();
      return "accepted";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code}: ${message}`;
    }
  };

  it.each<[string, object, string]>([
    [
      "a misspelt option",
      { toolName: ["read"] },
      'invalid_argument: createAgentSession: unknown option "toolName"; did you mean "toolNames"?',
    ],
    ["an unknown option", { colour: "red" }, 'invalid_argument: createAgentSession: unknown option "colour".'],
    ["an option without a value", { colour: undefined }, "accepted"],
    [
      "an option of another version",
      { outputSchema: {} },
      "unsupported: createAgentSession: not in this version yet: outputSchema.",
    ],
    ["the absence of something", { hasUI: false }, "accepted"],
    [
      "a model's name for a model",
      { model: "open/one" },
      'invalid_argument: createAgentSession: model takes an object. To choose a model by its name: modelPattern: "open/one"',
    ],
    [
      "half a model",
      { model: { provider: "open", id: "one" } },
      "invalid_argument: createAgentSession: model needs at least provider, id and api.",
    ],
    [
      "a model that no provider can be asked for",
      { model: { ...plannerModel, api: "smoke-signals" } },
      'model_not_found: Unsupported api "smoke-signals" for model galley/planner.',
    ],
    [
      "the same with a provider layer",
      { model: { ...plannerModel, api: "smoke-signals" }, streamFn: scriptedModel([]).stream },
      "accepted",
    ],
    [
      "a pattern without a match",
      { modelPattern: "nothing-like-it" },
      expect.stringMatching(/^model_not_found: /) as unknown as string,
    ],
  ])("%s", async (_title, options, said) => {
    expect(await refusal(options)).toEqual(said);
  });

  it("a missing working directory, unless the workspace is the caller's own", async () => {
    const cwd = join(home, "nowhere");
    expect(await refusal({ cwd })).toBe(`not_found: Working directory does not exist: ${cwd}`);
    expect(await refusal({ cwd, workspace: createMemoryWorkspace({}) })).toBe("accepted");
  });
});
