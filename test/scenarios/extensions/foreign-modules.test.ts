// Tools written for other programs, unchanged: the shapes that their documents show (a preview with TypeBox, the same
// with zod, a tool that reports, runs a program and listens), under the names of those programs, through each door.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAgentSession } from "../../../src/sdk/index.js";
import { openAi } from "../../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
let server: ScriptedServer;
beforeEach(() => {
  place = emptyHome();
});
afterEach(async () => {
  await server.close();
  place.remove();
});

const preview = (from: string, parameters: string) => `import type { CustomToolFactory } from "${from}";
const factory: CustomToolFactory = (pi) => ({
  name: "archive_preview",
  label: "Archive Preview",
  description: "Plans what goes to the archive and leaves the decision to resolve",
  parameters: ${parameters},
  async execute(_toolCallId, params) {
    const count = params.notes.length;
    pi.pushPendingAction({
      label: \`Archive \${count} notes\`,
      sourceToolName: "archive_preview",
      apply: async (reason) => ({ content: [{ type: "text", text: \`Archived \${count}. \${reason}\` }] }),
      reject: async (reason) => ({ content: [{ type: "text", text: \`Kept \${count}. \${reason}\` }] }),
    });
    return { content: [{ type: "text", text: \`Would archive \${count} notes\` }] };
  },
});
export default factory;
`;

const counting = `import type { CustomToolFactory } from "@f5-sales-demo/xcsh";
const factory: CustomToolFactory = (pi) => ({
  name: "count_files",
  label: "Count Files",
  description: "Counts the files of a kind",
  parameters: pi.typebox.Type.Object({ ending: pi.typebox.Type.Optional(pi.typebox.Type.String({ default: ".txt" })) }),
  async execute(toolCallId, params, onUpdate, ctx, signal) {
    onUpdate?.({ content: [{ type: "text", text: "Counting" }], details: { phase: "list" } });
    const result = await pi.exec("ls", ["-1"], { signal, cwd: pi.cwd });
    if (result.killed) throw new Error("Stopped");
    if (result.code !== 0) throw new Error(result.stderr || "ls failed");
    const files = result.stdout.split("\\n").filter((name) => name.endsWith(params.ending ?? ".txt"));
    return { content: [{ type: "text", text: \`\${files.length} files\` }], details: { count: files.length, first: files[0] } };
  },
  onSession(event) {
    if (event.reason === "shutdown") console.error("count_files hears of the end");
  },
});
export default factory;
`;

const call = (id: string, name: string, args: Record<string, unknown>) =>
  openAi.toolCalls([{ id, name, arguments: args }]);
const decided = (action: string) => [
  call("c1", "archive_preview", { notes: ["a", "b"] }),
  call("c2", "resolve", { action, reason: "Old." }),
  openAi.text("Done."),
];

const typebox = "pi.typebox.Type.Object({ notes: pi.typebox.Type.Array(pi.typebox.Type.String()) })";
const zod = "pi.zod.object({ notes: pi.zod.array(pi.zod.string()) })";
const modules = [
  {
    name: "a preview with TypeBox, applied",
    module: preview("@f5-sales-demo/xcsh", typebox),
    replies: () => decided("apply"),
    results: ["Would archive 2 notes", "Archived 2. Old."],
  },
  {
    name: "a preview with zod, discarded",
    module: preview("@oh-my-pi/pi-coding-agent", zod),
    replies: () => decided("discard"),
    results: ["Would archive 2 notes", "Kept 2. Old."],
  },
  {
    name: "a tool that reports, runs a program and listens",
    module: counting,
    replies: () => [call("c1", "count_files", {}), openAi.text("Done.")],
    results: ["2 files"],
  },
];
const notes = { "a.txt": "a", "b.txt": "b", "c.md": "c" };

/** What the model was told in the end. */
function told(): string[] {
  const body = server.requests.at(-1)?.body as { messages: { role: string; content: unknown }[] } | undefined;
  return (body?.messages ?? []).flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
}

describe.each(modules)("$name", ({ module, replies, results }) => {
  beforeEach(async () => {
    server = await startScriptedServer(replies());
  });

  /** The user's tool, the user's model, a directory of notes. */
  function prepare() {
    const [agentDir, cwd] = [join(place.home, ".galley/agent"), join(place.home, "project")];
    mkdirSync(join(agentDir, "tools"), { recursive: true });
    mkdirSync(cwd);
    writeFileSync(join(agentDir, "tools/foreign.ts"), module);
    writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
    for (const [name, text] of Object.entries(notes)) writeFileSync(join(cwd, name), text);
    return { agentDir, cwd };
  }

  it("in print mode", async () => {
    const { cwd } = prepare();
    const { code, stdout, stderr } = await run(process.execPath, [galleyBin, "-p", "Go"], { env: place.env, cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(told()).toEqual(results);
    if (module === counting) expect(stderr).toContain("count_files hears of the end");
  });

  it("in RPC mode", async () => {
    const files = { ...notes, "foreign.ts": module };
    const host = new RpcHost({ models: modelsAt(server.url), files, args: ["--tool", "foreign.ts"] });
    try {
      host.send({ id: "p", type: "prompt", message: "Go" });
      await host.waitForType("agent_settled");
      expect(told()).toEqual(results);
      const updates = host.frames.filter(({ type }) => type === "tool_execution_update");
      expect(updates.length > 0).toBe(module === counting);
    } finally {
      await host.dispose();
    }
  });

  it("in a program of its own", async () => {
    const { agentDir, cwd } = prepare();
    const { session } = await createAgentSession({ cwd, agentDir, env: { HOME: place.home, PATH: process.env.PATH } });
    try {
      await session.prompt("Go");
      expect(told()).toEqual(results);
      expect(session.pendingActionCount).toBe(0);
    } finally {
      await session.dispose();
    }
  });
});
