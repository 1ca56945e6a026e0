// What a person sees while a one-shot run works, on a terminal and elsewhere.

import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { call, createPrintRig, hasTerminal } from "../kit/print-rig.js";
import { ensureBuilt, modelsAt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.models(undefined);
  rig.write("a.ts", "foo(1);\n");
});
afterAll(rig.remove);

const work = [call("bash", { command: "echo hi" }), call("read", { path: "a.ts" }, "c2"), openAi.text("Done.")];
const quick = ["--set", "retry.baseDelayMs=100"];
const busy: Reply = { status: 503, body: '{"error":{"message":"on fire"}}' };

describe("without a terminal", () => {
  it("--verbose tells each tool call in a plain line, and else there is none", async () => {
    const verbose = await rig.withModel(work, ["--verbose", "-p", "go"]);
    expect(verbose.stderr).toBe("bash echo hi\nread a.ts\n3 turns, 45 tokens\n");
    expect((await rig.withModel(work, ["-p", "go"])).stderr).toBe("3 turns, 45 tokens\n");
  });

  it("a retry is told with its reason and wait", async () => {
    const { code, stderr } = await rig.withModel([busy, openAi.text("Done.")], [...quick, "-p", "go"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^galley: retry 1 of 3 in 1 s: .*on fire.*\n/);
    const quiet = await rig.withModel([busy, openAi.text("Done.")], [...quick, "--quiet", "-p", "go"]);
    expect(quiet.stderr).toBe("");
  });

  it("a refused connection is not silent", async () => {
    const server = await startScriptedServer([]);
    const { url } = server;
    await server.close();
    rig.models(modelsAt(url));
    const { code, stderr } = await rig.galley([...quick, "-p", "go"]);
    expect(code).toBe(7);
    expect(stderr.match(/^galley: retry [123] of 3 in 1 s: .+$/gm)).toHaveLength(3);
  });
});

describe.skipIf(!hasTerminal)("on a terminal (skipped where there is no program `script`)", () => {
  /** What was drawn on the line that changes, in order. */
  const drawn = (output: string) => output.split("\r\u001b[K").map((text) => stripVTControlCharacters(text));

  it("one line changes, and is gone at the end", async () => {
    const server = await startScriptedServer([busy, ...work]);
    rig.models(modelsAt(server.url));
    const { code, stdout } = await rig.inTerminal([...quick, "-p", "go"]);
    await server.close();
    expect(code).toBe(0);
    const lines = drawn(stdout);
    expect(lines).toContainEqual(expect.stringMatching(/^waiting for acme\/scripted {2}\d+ s$/));
    expect(lines).toContainEqual(expect.stringMatching(/^retry 1 of 3 in 1 s: .*on fire.* {2}\d+ s$/));
    expect(lines).toContainEqual(expect.stringMatching(/^bash echo hi {2}\d+ s {2}15 tokens$/));
    expect(lines).toContainEqual(expect.stringMatching(/^read a\.ts {2}\d+ s {2}30 tokens$/));
    expect(lines.at(-1)).toBe("Done.\r\n3 turns, 45 tokens\r\n");
    expect(lines.slice(0, -1).every((line) => !line.includes("\n") && line.length < 100)).toBe(true);
  });

  it("the preview is coloured, and --quiet draws nothing", async () => {
    const sentence = ["-p", "replace foo($A) with bar($A) in a.ts"];
    const { stdout } = await rig.inTerminal(sentence);
    expect(stdout).toContain("\u001b[31m-foo(1);\u001b[0m\r\n\u001b[32m+bar(1);\u001b[0m\r\n");
    const quiet = await rig.inTerminal(["--quiet", ...sentence]);
    expect(quiet.stdout).not.toContain("\u001b");
    expect(quiet.stdout).toMatch(/^Previewed 1 replacement/);
  });

  it("a mistyped command is not sent from there either", async () => {
    const { code, stdout } = await rig.inTerminal(["appyl", "pa_1"]);
    expect(code).toBe(2);
    expect(stdout).toContain("Unknown command appyl. Did you mean apply?");
  });
});
