import { describe, expect, it } from "vitest";
import { meantCommand } from "./misspelt-command.js";

describe("meantCommand", () => {
  it.each([
    [["pendng"], "pending"],
    [["aply", "pa_1"], "apply"],
    [["appyl", "7", "src/a.ts"], "apply"],
    [["discrad", "0194f3:pa_1"], "discard"],
    [["und", "ch_12345678"], "undo"],
    [["session", "list"], "sessions"],
    [["trsut", "./here"], "trust"],
    [["logn", "openai"], "login"],
    [["logot", "openai"], "logout"],
    [["pending"], "pending"],
  ])("%j was meant as %s", (words, meant) => expect(meantCommand(words)).toBe(meant));

  it.each([
    [[]],
    [["help"]],
    [["explain"]],
    [["sow the seeds"]],
    [["aply", "this"]],
    [["undu", "ch_1", "please"]],
    [["trust", "me", "please"]],
    [["show", "me"]],
  ])("%j is a prompt", (words) => expect(meantCommand(words)).toBeUndefined());

  it("believes a user who says that it is a prompt, unless an id follows a misspelt command", () => {
    const isPrompt = true;
    for (const words of [["undoo"], ["undo"], ["apply", "pa_1"], ["session", "list"]])
      expect(meantCommand(words, { isPrompt })).toBeUndefined();
    expect(meantCommand(["appyl", "pa_1"], { isPrompt })).toBe("apply");
  });
});
