// What docs/custom-tools.md shows is what happens: each module on the page is loaded, and each line of the block below
// it is carried out and compared. The example in examples/tools is run the same way.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { GalleyError, messageOf } from "../../src/base/errors.js";
import { silentLog } from "../../src/base/log.js";
import type { CustomToolAPI } from "../../src/extensions/api/custom-tool.js";
import type { CustomToolContext } from "../../src/extensions/api/custom-tool-context.js";
import { notifyTools } from "../../src/extensions/api/custom-tool-events.js";
import { ToolRenderer } from "../../src/extensions/api/render.js";
import type { ToolPendingActions } from "../../src/extensions/api/tool-api-pending.js";
import { plainTheme } from "../../src/extensions/compat/theme.js";
import type { LoadedCustomTools } from "../../src/extensions/load/load.js";
import { decideOne } from "../../src/pending/decide/decided.test-kit.js";
import type { DecideContext } from "../../src/pending/decide/decision.js";
import { PendingActionStore } from "../../src/pending/store/pending-action-store.js";
import { withoutSession } from "../../src/plans/change-writer.js";
import { type PlannedChange, stampOf } from "../../src/plans/plan.js";
import { createNodeProcesses } from "../../src/processes/node-processes.js";
import type { ToolResult } from "../../src/protocol/events.js";
import { projectRoot } from "../kit/run-galley.js";
import { callTool, quietHost, type ToolModules, toolModules } from "../kit/tool-modules.js";

const page = readFileSync(join(projectRoot, "docs/custom-tools.md"), "utf8");
const examples = [...page.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, module = "", script = ""]) => ({
  title: /name: "(\w+)"/.exec(module)?.[1] ?? module.split("\n")[0],
  module,
  script,
}));
const processes = createNodeProcesses({ env: { PATH: process.env.PATH }, log: silentLog });
afterAll(() => processes.shutdown());

/** Complete by their types: a new member without an example does not compile or does not pass. */
const apiMembers: Record<keyof CustomToolAPI, true> = {
  ...{ cwd: true, exec: true, ui: true, hasUI: true, logger: true, typebox: true, zod: true, pi: true },
  pushPendingAction: true,
};
const contextMembers: Record<keyof CustomToolContext, true> = {
  ...{ cwd: true, ui: true, hasUI: true, signal: true, toolCallId: true, settings: true, pending: true, model: true },
  ...{ sessionManager: true, modelRegistry: true, isIdle: true, hasQueuedMessages: true, hasPendingMessages: true },
  abort: true,
};

describe("docs/custom-tools.md", () => {
  it("has nothing but examples that are run", () => {
    expect(examples.length).toBeGreaterThan(10);
    expect(page.match(/```(ts|text)$/gm)).toHaveLength(2 * examples.length);
  });

  it("has an example of every member of the API and of ctx", () => {
    const shown = examples.map(({ module }) => module).join("\n");
    const lacks = (name: string, owner: string) =>
      !new RegExp(`\\b${owner}\\.${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} = ${owner};`).test(shown);
    expect(Object.keys(apiMembers).filter((name) => lacks(name, "pi"))).toEqual([]);
    expect(Object.keys(contextMembers).filter((name) => lacks(name, "ctx"))).toEqual([]);
  });

  it.each(examples)("$title", async ({ module, script }) => {
    expect(await play(module, script)).toBe(script);
  });
});

describe("examples/tools/changelog-entry.ts", () => {
  const module = readFileSync(join(projectRoot, "examples/tools/changelog-entry.ts"), "utf8");
  const call = (text: string) => `> changelog_entry {"text": "${text}", "file": "log.md"}\n`;

  it("proposes, and writes what it proposed", async () => {
    const script = `${call("Quicker start")}Proposed for log.md:\n+- Quicker start\n> apply yes\nApplied: Changelog entry: Quicker start.\n> show log.md\n# Changes\n\n## Unreleased\n\n- Older\n- Quicker start\n\n## 1.0.0\n${call("Quicker start")}log.md says so already.\n`;
    expect(await play(module, script)).toBe(script);
  });

  it("leaves a changelog alone that another program changed", async () => {
    const script = `${call("Quicker start")}Proposed for log.md:\n+- Quicker start\n> edit log.md\n> apply yes\n! Preview is stale: 1 of 1 files changed since the preview (log.md). Nothing was written. Run changelog_entry again or discard.\n`;
    expect(await play(module, script)).toBe(script);
  });

  it("fails with what is wrong", async () => {
    const script = '> changelog_entry {"text": "x", "file": "none.md"}\n';
    expect(await play(module, script)).toMatch(/^> .*\n! ENOENT: no such file/);
  });
});

/** The script again, with what really came out. */
async function play(module: string, script: string): Promise<string> {
  const modules = toolModules();
  modules.write({
    "tool.ts": module,
    "notes.txt": "one\ntwo\nthree\n",
    "log.md": "# Changes\n\n## Unreleased\n\n- Older\n\n## 1.0.0\n",
  });
  const store = new PendingActionStore({ clock: modules.clock });
  const pending = pendingActions(store, modules);
  const loaded = await modules.load(["tool.ts"], { processes, pending });
  try {
    let played = "";
    for (const [, line = ""] of script.matchAll(/^> (.*)$/gm))
      played += `> ${line}\n${(await perform(line, { loaded, store, modules })).map((text) => `${text}\n`).join("")}`;
    if (!script.startsWith("> load")) expect(loaded.errors).toEqual([]);
    return played;
  } finally {
    modules.remove();
  }
}

interface Stage {
  readonly loaded: LoadedCustomTools;
  readonly store: PendingActionStore;
  readonly modules: ToolModules;
}

async function perform(line: string, { loaded, store, modules }: Stage): Promise<string[]> {
  const [verb = "", ...words] = line.split(" ");
  const rest = words.join(" ");
  const file = join(modules.directory, rest);
  switch (verb) {
    case "load":
      return loaded.errors.map(({ error }) => error.replaceAll(join(modules.directory, "tool.ts"), "<module>"));
    case "answer":
      loaded.setUIContext({ [words[0] as string]: async () => JSON.parse(words.slice(1).join(" ")) }, true);
      return [];
    case "event": {
      const { tools, live } = loaded;
      const event = { reason: rest as "tree", previousSessionFile: undefined };
      await notifyTools({ tools, live, clock: modules.clock, log: silentLog, host: () => quietHost }, event);
      return [];
    }
    case "edit":
      writeFileSync(file, "changed by somebody else\n");
      return [];
    case "show":
      return readFileSync(file, "utf8").trimEnd().split("\n");
    case "draw":
      return draw(loaded, words[0] as string, JSON.parse(words.slice(1).join(" ")));
    case "apply":
    case "discard":
      return linesOf(await settle(store, modules, verb, rest));
    default: {
      const updates: string[] = [];
      const onUpdate = (partial: ToolResult) => updates.push(...linesOf(partial, "~ "));
      const result = await callTool(loaded, verb, JSON.parse(rest), { onUpdate }).catch((error: unknown) => ({
        content: [{ type: "text" as const, text: messageOf(error) }],
        isError: true,
      }));
      return [...updates, ...linesOf(result)];
    }
  }
}

function linesOf({ content, isError }: ToolResult, mark = isError ? "! " : ""): string[] {
  return content.flatMap((block) => (block.type === "text" ? block.text.split("\n").map((text) => mark + text) : []));
}

async function draw(loaded: LoadedCustomTools, name: string, args: unknown): Promise<string[]> {
  const tool = loaded.tools.find((one) => one.tool.name === name)?.tool;
  if (!tool) throw new Error(`no tool ${name}`);
  const result = await callTool(loaded, name, args as Record<string, unknown>);
  const renderer = new ToolRenderer({ tool, path: "tool.ts", log: silentLog });
  const view = {
    ...{ theme: plainTheme, expanded: true, isPartial: false, toolCallId: "call_1", cwd: "/project", state: {} },
    ...{ executionStarted: true, argsComplete: true, showImages: false, isError: false, invalidate() {} },
  };
  return [...renderer.call(args, view, 60), ...renderer.result(result, args, view, 60)].map((text) => text.trimEnd());
}

async function settle(store: PendingActionStore, modules: ToolModules, action: "apply" | "discard", reason: string) {
  const deps: DecideContext = {
    store,
    settings: () => ({ maxAttempts: 5, decider: "model", requireUser: false }),
    session: withoutSession,
    changes: {
      async apply(changes) {
        const now = changes.map(({ stamp }) => stampAt(modules, stamp.path));
        const changed = changes.filter(({ stamp }, index) => now[index]?.sha256 !== stamp.sha256);
        if (changed.length > 0) throw staleError(changed, changes.length);
        for (const { path, after } of changes) writeFileSync(path, after);
        return { changeId: "ch_1" };
      },
    },
  };
  return (await decideOne(deps, store.next()?.action.id ?? "none", { action, reason, by: "model" })).result;
}

function staleError(changed: readonly PlannedChange[], total: number): GalleyError {
  return new GalleyError("stale_preview", "stale", {
    details: { files: changed.map(({ stamp }) => stamp.path), total },
  });
}

/** The workspace's part, for files that lie in one directory. */
function pendingActions(store: PendingActionStore, modules: ToolModules): ToolPendingActions {
  return {
    push: (action) => store.push(action),
    nextId: () => store.nextId(),
    stamp: async (paths) => paths.map((path) => ({ path, stamp: stampAt(modules, path) })),
    plan: async (changes) =>
      changes.map(({ path: shown, after }) => {
        const path = join(modules.directory, shown);
        const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
        return { kind: "modify", path, stamp: stampAt(modules, shown), before, after: Buffer.from(after ?? "") };
      }),
  };
}

function stampAt({ directory }: ToolModules, shown: string) {
  const path = join(directory, shown);
  return stampOf(shown, existsSync(path) ? { bytes: readFileSync(path), mode: 0o644 } : undefined);
}
