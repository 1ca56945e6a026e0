// The house rules that a program can check: the map names what exists, every command is whole, imports point down.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TSchema } from "typebox";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a plain script without types
import { findViolations as untypedFindViolations } from "../scripts/check-layers.mjs";
import { builtInToolNames } from "../src/cli/session-options.js";
import { isAgentEvent } from "../src/client/agent-events.js";
import { RpcClient } from "../src/client/index.js";
import { commandSchemaByType } from "../src/protocol/commands.js";
import { RpcData } from "../src/protocol/data.js";
import { OutboundFrame } from "../src/protocol/frames.js";
import { handlers } from "../src/rpc/handlers.js";
import { createMemoryWorkspace } from "../src/testing/memory-workspace.js";
import { createBuiltInTools } from "../src/tools/index.js";
import { toolDeps } from "../src/tools/tools.test-kit.js";
import { dataByCommand, frames } from "./kit/strict-tables.mjs";
import { temporaryDirectory } from "./kit/temporary-directory.js";

const findViolations = untypedFindViolations as (root: string) => Promise<string[]>;
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("ARCHITECTURE.md", () => {
  const text = read("ARCHITECTURE.md");
  const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] as string);
  const named = [...text.matchAll(/`((?:src|test|docs|bench|scripts)\/[\w./-]*)`/g)].map((match) => match[1] as string);

  it.each([...new Set([...links, ...named])])("names %s, which exists", (path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });

  it("names functions that stand in the file it links", () => {
    const pairs = [...text.matchAll(/\]\((src\/[^)]+\.ts)\)\s+`(\w+)/g)];
    expect(pairs.length).toBeGreaterThan(10);
    for (const [, path, name] of pairs) expect(read(path as string), `${name} in ${path}`).toContain(name);
  });

  it("has a paragraph for every folder of the source", () => {
    for (const folder of readdirSync(join(root, "src"))) expect(text).toContain(`**src/${folder}/**`);
  });
});

describe("the protocol", () => {
  const transcripts = readdirSync(join(root, "test/transcripts")).map((name) => read(`test/transcripts/${name}`));
  const sent = transcripts.flatMap((text) => text.split("\n").filter((line) => line.startsWith("> ")));
  const received = transcripts.flatMap((text) => text.split("\n").filter((line) => line.startsWith("< ")));
  const page = read("docs/rpc.md").replace(/<!-- generated[\s\S]*?<!-- end -->/g, "");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const python = { sync: pythonCode("client.py", "SyncCommands"), async: pythonCode("aio.py", "AsyncCommands") };
  const pythonEvents = read("clients/python/galley_rpc/types.py").match(/^EVENT_TYPES[^(]*\(([\s\S]*?)^\)/m)?.[1] ?? "";
  /** The class with the methods that are made from the schema, and the file with those written by hand. */
  function pythonCode(file: string, made: string): string {
    const commands = read("clients/python/galley_rpc/_commands.py");
    const start = commands.indexOf(`class ${made}`);
    const end = commands.indexOf("\nclass ", start + 1);
    return commands.slice(start, end === -1 ? undefined : end) + read(`clients/python/galley_rpc/${file}`);
  }
  /** A mark in the docs excuses from being served, and from nothing else. */
  const isMarked = (name: string) =>
    (rows.find((row) => row.startsWith(`| \`${name}\``)) ?? "").split(" | ")[0]?.includes("not in this version yet");

  function missingOfCommand(type: string): string[] {
    const method = type.replace(/_./g, (match) => match.charAt(1).toUpperCase());
    const parts: Record<string, boolean> = {
      "a shape for its data": Object.hasOwn(RpcData, type),
      "a row in the tables of the strict host": Object.hasOwn(dataByCommand, type),
      "a row in docs/rpc.md": rows.some((row) => row.startsWith(`| \`${type}\``)),
      "a method of the TypeScript client": method in RpcClient.prototype,
      "a method of the Python client": new RegExp(`^    def ${type}\\(`, "m").test(python.sync),
      "a method of the asynchronous Python client": new RegExp(`^    async def ${type}\\(`, "m").test(python.async),
    };
    if (!isMarked(type))
      Object.assign(parts, {
        "a handler": handlers.has(type),
        "a request in a transcript": sent.some((line) => line.includes(`"type":"${type}"`)),
        "a response in a transcript": received.some((line) => line.includes(`"command":"${type}"`)),
      });
    return absent(type, parts);
  }

  function missingOfFrame({ type, method }: { type: string; method: string | undefined }): string[] {
    const name = method ?? type;
    const isHeard = !["ready", "rpc_chunk"].includes(type);
    const elsewhere = notInTranscripts[type];
    const place = method === undefined ? `"type":"${type}"` : `"method":"${method}"`;
    const parts: Record<string, boolean> = {
      "a row in the tables of the strict host": Object.hasOwn(frames, type) || method !== undefined,
      "an entry in docs/rpc.md":
        rows.some((row) => row.split(" | ")[0]?.includes(`\`${name}\``)) || page.includes(place),
      "a place among the events of the TypeScript client": !isHeard || isAgentEvent({ type }),
      "a place among the events of the Python client": !isHeard || pythonEvents.includes(`"${type}"`),
    };
    if (elsewhere !== undefined) parts[`a test in ${elsewhere}`] = read(elsewhere).includes(type);
    else if (!isMarked(name)) parts["a line in a transcript"] = received.some((line) => line.includes(place));
    return absent(method === undefined ? type : `${type} ${method}`, parts);
  }

  it("every command is whole: schema, handler, clients, transcript, docs", () => {
    expect(Object.keys(commandSchemaByType).length).toBeGreaterThan(45);
    expect(Object.keys(commandSchemaByType).flatMap(missingOfCommand)).toEqual([]);
  });

  it("every event, dialog and other frame is whole: transcript, docs, delivered by both clients", () => {
    const kinds = frameKinds(OutboundFrame).filter(({ type }) => type !== "response");
    expect(kinds.length).toBeGreaterThan(40);
    expect(kinds.flatMap(missingOfFrame)).toEqual([]);
  });

  it("the docs mark exactly the commands that this server lacks", () => {
    const wrong = Object.keys(commandSchemaByType).filter((type) => isMarked(type) === handlers.has(type));
    expect(wrong).toEqual([]);
  });

  it("what is missing is named", () => {
    expect(missingOfCommand("teleport").length).toBeGreaterThan(7);
    expect(missingOfCommand("teleport")).toContain("teleport has no handler");
    expect(missingOfFrame({ type: "weather_update", method: undefined })).toHaveLength(5);
    expect(missingOfFrame({ type: "extension_ui_request", method: "open_url" })).toHaveLength(2);
  });
});

/** Frames that no transcript can hold, and the test that shows them. */
const notInTranscripts: Readonly<Record<string, string>> = {
  ready: "test/process/rpc.test.ts",
  rpc_chunk: "src/rpc/frame-chunks.test.ts",
  rpc_frame_error: "src/rpc/frame-chunks.test.ts",
};

function absent(name: string, parts: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(parts).flatMap(([part, isThere]) =>
    isThere ? [] : [`${name} has no ${part.replace(/^an? /, "")}`],
  );
}

function frameKinds(schema: TSchema): { type: string; method: string | undefined }[] {
  if ("anyOf" in schema) return (schema.anyOf as TSchema[]).flatMap(frameKinds);
  const { type, method } = (schema as unknown as { properties: Record<string, { const: string }> }).properties;
  return [{ type: type?.const ?? "", method: method?.const }];
}

describe("tools", () => {
  it("the command line knows the names of the built-in tools", () => {
    const names = createBuiltInTools(toolDeps(createMemoryWorkspace({}))).map((tool) => tool.name);
    // A session adds it, because it works on the session itself.
    expect([...builtInToolNames].sort()).toEqual([...names, "undo"].sort());
  });
});

describe("the source", () => {
  const files = (readdirSync(join(root, "src"), { recursive: true }) as string[])
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !/\.test(-kit)?\.ts$/.test(file));

  it("has no file over 400 lines", () => {
    expect(files.filter((file) => read(`src/${file}`).split("\n").length > 401)).toEqual([]);
  });

  it("gives a name to one file only, but for those that are listed", () => {
    const byName = new Map<string, number>();
    for (const file of files) {
      const name = file.slice(file.lastIndexOf("/") + 1);
      byName.set(name, (byName.get(name) ?? 0) + 1);
    }
    const repeated = [...byName].filter(([, count]) => count > 1).map(([name]) => name);
    expect(repeated.filter((name) => !sharedNames.includes(name))).toEqual([]);
  });

  it("reads no facts out of the sentences of a session in a front end", () => {
    const found = files
      .filter((file) => /^(?:cli|tui|rpc)\//.test(file) && !takesTextApart.has(file))
      .filter((file) => factsFromText.test(read(`src/${file}`)));
    expect(found).toEqual([]);
  });

  it("has no folder with more than 30 files directly in it", () => {
    const counts = new Map<string, number>();
    for (const file of files) {
      const folder = file.slice(0, file.lastIndexOf("/"));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 30)).toEqual([]);
  });
});

describe("tests", () => {
  it("a test in src stands beside the source file whose name it bears", () => {
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
    const tests = files.filter((file) => file.endsWith(".test.ts"));
    expect(tests.length).toBeGreaterThan(200);
    expect(tests.filter((file) => !files.includes(sourceOf(file)))).toEqual([]);
  });

  it.each([
    ["loop/run.test.ts", "loop/run.ts"],
    ["journal/apply.fault.test.ts", "journal/apply.ts"],
    ["pending/store/stack.property.test.ts", "pending/store/stack.ts"],
  ])("%s is about %s", (file, source) => {
    expect(sourceOf(file)).toBe(source);
  });
});

/** A story across folders belongs in test/scenarios, an invariant in test/laws. */
function sourceOf(file: string): string {
  return file.replace(/(?:\.(?:property|fault|process))?\.test\.ts$/, ".ts");
}

describe("layers", () => {
  it("hold", async () => {
    expect(await findViolations(root)).toEqual([]);
  });

  it("the check sees an upward import, a type-only one, a cycle, a missed contract and a forbidden module", async () => {
    const copy = temporaryDirectory();
    cpSync(join(root, "layers.mjs"), join(copy, "layers.mjs"));
    const files = {
      "base/up.ts": 'import type { Model } from "../protocol/model.js";',
      "protocol/model.ts": 'import { other } from "./other.js";\nexport type Model = string;',
      "protocol/other.ts": 'export { type Model } from "./model.js";\nexport const other = 1;',
      "loop/vendor.ts": 'const load = () => import("../provider/planner.js");',
      "loop/disk.ts": 'import { readFileSync } from "node:fs";',
      "cellar/new.ts": "export const x = 1;",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(copy, "src", name, ".."), { recursive: true });
      writeFileSync(join(copy, "src", name), text);
    }
    const problems = (await findViolations(copy)).join("\n");
    expect(problems).toContain("base/up.ts: imports protocol/model.ts; protocol is not below base");
    expect(problems).toContain("loop may only use the contract provider/provider.ts");
    expect(problems).toContain("loop/disk.ts: imports node:fs");
    expect(problems).toContain("cycle: protocol/model.ts -> protocol/other.ts -> protocol/model.ts");
    expect(problems).toContain('folder "cellar" is not in layers.mjs');
  });
});

/** The handler of a command has its name, a provider its request, a front end what another has too. */
const sharedNames = [
  "index.ts",
  "undo.ts",
  "request.ts",
  "components.ts",
  "theme.ts",
  "session-options.ts",
  "schema.ts",
];

const factsFromText = new RegExp(
  [
    String.raw`\b(?:text|label|message|reason|lastError)\??\.(?:match|search|startsWith|endsWith|includes|replace)\(`,
    String.raw`/\w*\.(?:exec|test)\((?:\w+\.)*(?:text|label|message|reason|lastError)\)`,
  ].join("|"),
);

/** They take apart what the user typed, what is drawn, or what they wrote themselves. */
const takesTextApart = new Set([
  ...["cli/run-plain.ts", "cli/shell-word.ts", "cli/commands/pending-words.ts", "cli/print/run-prompts.ts"],
  ...[
    "tui/app.ts",
    "tui/give-terminal.ts",
    "tui/spell-ascii.ts",
    "tui/chat/block-view.ts",
    "tui/pickers/list-picker.ts",
  ],
  ...["tui/editor/prompt-history.ts", "tui/review/line-pieces.ts", "tui/review/review-rows.ts"],
  "rpc/handlers/get-messages-page.ts", // its own cursor
]);
