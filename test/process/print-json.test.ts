// What programs read: lines that grow with the reply and no faster, the last line, the exit code, one document.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/index.js";
import { createPrintRig, jsonLines } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.write("a.ts", "foo(1);\n");
});
afterAll(rig.remove);

interface Update {
  type: string;
  message: { content: { text?: string }[] };
  assistantMessageEvent: { type: string; delta?: string; partial: { content: unknown[] } };
}

const updatesOf = (lines: Record<string, unknown>[]) =>
  lines.filter(({ type }) => type === "message_update") as unknown as Update[];

describe("--mode json", () => {
  it("prints 4,000 deltas of 5 bytes in under 1.5 MB, and nothing is missing", async () => {
    const outcome = await rig.withModel([openAi.manyDeltas(4000, "word ")], ["--mode", "json", "hi"]);
    expect(Buffer.byteLength(outcome.stdout)).toBeLessThan(1_500_000);
    const lines = jsonLines(outcome);
    const updates = updatesOf(lines);
    const deltas = updates.map(({ assistantMessageEvent }) => assistantMessageEvent.delta ?? "");
    expect(deltas.join("")).toBe("word ".repeat(4000));
    expect(updates.every(({ message }) => message.content.length === 0)).toBe(true);
    const whole = lines.filter(({ type }) => type === "message_end").at(-1) as unknown as Update;
    expect(whole.message.content[0]?.text).toBe("word ".repeat(4000));
    // Were each delta a line of its own, it would still be under the limit.
    const longest = Math.max(
      ...outcome.stdout
        .split("\n")
        .filter((line) => line.includes('"text_delta"'))
        .map((line) => line.length - (JSON.parse(line) as Update).assistantMessageEvent.delta!.length),
    );
    expect((longest + 5) * 4000).toBeLessThan(1_500_000);
  });

  it("prints the whole message every time with --json-snapshots", async () => {
    const outcome = await rig.withModel([openAi.text("Hello ", "there")], ["--mode", "json", "--json-snapshots", "hi"]);
    const [last] = updatesOf(jsonLines(outcome)).slice(-1);
    expect(last?.message.content).toEqual([{ type: "text", text: "Hello there" }]);
    expect(last?.assistantMessageEvent.partial.content).toEqual([{ type: "text", text: "Hello there" }]);
  });

  it("keeps its summary on stderr", async () => {
    const { stderr } = await rig.withModel([openAi.text("Hello")], ["--mode", "json", "hi"]);
    expect(stderr).toBe("1 turn, 15 tokens\n");
  });
});

describe("--output-format", () => {
  it("json is one document", async () => {
    const outcome = await rig.withModel([openAi.text("Hello")], ["-p", "--output-format", "json", "hi"]);
    expect(jsonLines(outcome)).toEqual([
      {
        type: "result",
        is_error: false,
        result: "Hello",
        session_id: expect.any(String),
        num_turns: 1,
        total_tokens: 15,
        total_cost_usd: 0,
        code: 0,
        reason: "done",
        pending: [],
      },
    ]);
  });

  it("stream-json is --mode json, and text is -p", async () => {
    const lines = jsonLines(await rig.withModel([openAi.text("Hello")], ["--output-format", "stream-json", "hi"]));
    expect([lines[0]?.type, lines.at(-1)]).toEqual(["session", { type: "exit", code: 0, reason: "done", pending: [] }]);
    const text = await rig.withModel([openAi.text("Hello")], ["--output-format", "text", "hi"]);
    expect(text.stdout).toBe("Hello\n");
  });
});

describe("previews that are left", () => {
  const sentence = "replace foo($A) with bar($A) in a.ts";

  it("give 0, and 5 with --exit-code; the last line is the same", async () => {
    for (const [args, code] of [
      [[], 0],
      [["--exit-code"], 5],
    ] as const) {
      const outcome = await rig.galley([...args, "--mode", "json", sentence]);
      expect(outcome.code).toBe(code);
      const [last] = jsonLines(outcome).slice(-1);
      expect(last).toMatchObject({ type: "exit", code, reason: "pending" });
      expect(last?.pending).toEqual([expect.stringMatching(/^pa_\d+$/)]);
      expect((await rig.galley([...args, "-p", sentence])).code).toBe(code);
    }
    expect((await rig.galley(["--exit-code", "-p", "show a.ts"])).code).toBe(0);
    expect((await rig.galley(["--exit-code", "--yes", "-p", sentence])).code).toBe(0);
  });
});
