// What a one-shot run sends to a model: the words as one prompt, and nothing that was meant as a command.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/index.js";
import { createPrintRig, jsonLines } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(rig.newProject);
afterAll(rig.remove);

interface Request {
  messages: { role: string; content: unknown }[];
}

const asked = (request: unknown) =>
  JSON.stringify((request as Request).messages.filter(({ role }) => role === "user").at(-1)?.content);

describe("the words", () => {
  it("are one prompt and one model call", async () => {
    const { code, stdout, requests } = await rig.withModel([openAi.text("Done.")], ["-p", "fix", "the", "bug"]);
    expect([code, stdout]).toEqual([0, "Done.\n"]);
    expect(requests).toHaveLength(1);
    expect(asked(requests[0])).toContain("fix the bug");
  });

  it("follow piped input and files, and --then follows the answer", async () => {
    rig.write("note.txt", "a note");
    const replies = [openAi.text("One."), openAi.text("Two."), openAi.text("Three.")];
    const args = ["-p", "--then", "- and then", "explain", "@note.txt", "this", "--then=at last"];
    const { stdout, stderr, requests } = await rig.withModel(replies, args);
    expect(stdout).toBe("Three.\n");
    expect(stderr).toBe("3 turns, 45 tokens\n");
    expect(asked(requests[0])).toMatch(/a note\\n<\/file>\\n\\nexplain note\.txt this/);
    expect(asked(requests[1])).toContain("- and then");
    expect(asked(requests[2])).toContain("at last");
  });

  it("keep the names of files and images that stand in the sentence", async () => {
    rig.write("add.js", "add()\n");
    writeFileSync(join(rig.cwd, "x.png"), Buffer.from("89504e470d0a1a0a", "hex"));
    const words = ["look", "at", "@add.js", "and", "@x.png"];
    const { requests } = await rig.withModel([openAi.text("Seen.")], ["-p", ...words]);
    expect(asked(requests[0])).toMatch(/<\/file>\\n\\nlook at add\.js and x\.png/);
    const leading = await rig.withModel([openAi.text("Seen.")], ["-p", "@add.js", "explain"]);
    expect(asked(leading.requests[0])).toMatch(/<\/file>\\n\\nexplain"/);
  });

  it("may be missing where --then says something", async () => {
    rig.write("note.txt", "a note\n");
    expect(await rig.galley(["-p", "--then", "show note.txt"])).toMatchObject({ code: 0, stdout: "a note\n" });
  });
});

describe("a mistyped command", () => {
  const replies = [openAi.text("never asked")];

  it.each([
    [["appyl", "pa_1"], "apply"],
    [["appyl", "7", "src/a.ts"], "apply"],
    [["pendign"], "pending"],
    [["undoo", "ch_0123abcd"], "undo"],
    [["confg", "get", "staging"], "config"],
    [["-p", "appyl", "pa_1"], "apply"],
    [["--mode", "json", "discrad", "pa_1"], "discard"],
  ])("%j is never sent to a model", async (args, meant) => {
    const outcome = await rig.withModel(replies, args).catch((error: unknown) => error);
    expect(String(outcome)).toContain("1 of 1 scripted replies were never asked for");
    const { code, stderr } = await rig.galley(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`Did you mean ${meant}? As a prompt:  galley -p -- `);
  });

  it("is sent after --, and so is a sentence that only begins like one", async () => {
    for (const args of [
      ["--", "appyl", "pa_1"],
      ["appyl", "the", "patch"],
      ["-p", "undoo"],
    ]) {
      const { code, requests } = await rig.withModel([openAi.text("Well.")], args);
      expect([code, requests.length]).toEqual([0, 1]);
    }
  });
});

describe("options that this version does not have", () => {
  it.each(["--no-mcp", "--no-lsp", "--no-pty", "--allow-home"])("%s is wrong usage", async (option) => {
    expect(await rig.galley(["-p", option, "help"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `${option} is not supported in this version.\n`,
    });
    expect((await rig.galley(["--help"])).stdout).not.toContain(option);
  });

  it.each([
    [["--stage", "--auto"], "--stage and --auto exclude each other."],
    [["--quiet", "--verbose"], "--quiet and --verbose exclude each other."],
    [["--max-turns", "0"], '--max-turns must be a whole number from 1, not "0".'],
    [["--max-tokens", "1e6"], '--max-tokens must be a whole number from 1, not "1e6".'],
    [["--max-cost", "$1"], '--max-cost must be dollars above 0, as in 0.50, not "$1".'],
    [["--max-cost", "0.0"], '--max-cost must be dollars above 0, as in 0.50, not "0.0".'],
    [["--output-format", "xml"], '--output-format must be text, json or stream-json, not "xml".'],
    [["--mode", "text", "--output-format", "json"], "--mode text and --output-format json exclude each other."],
  ])("%j is wrong usage too", async (args, text) => {
    const outcome = await rig.galley([...args, "-p", "help"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain(text);
  });

  it("is told in the one JSON document", async () => {
    for (const wrong of ["--nope", "-Z"]) {
      const outcome = await rig.galley(["--output-format", "json", wrong, "help"]);
      expect(outcome.code).toBe(2);
      expect(jsonLines(outcome)).toMatchObject([
        { type: "result", is_error: true, code: 2, reason: "usage", pending: [] },
      ]);
    }
  });
});
