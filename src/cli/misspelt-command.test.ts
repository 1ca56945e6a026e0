import { expect, it } from "vitest";
import { meantCommand } from "./misspelt-command.js";

it("knows a command that was mistyped", () => {
  expect(meantCommand(["pendng"])).toBe("pending");
  expect(meantCommand(["aply", "pa_1"])).toBe("apply");
  expect(meantCommand(["und", "ch_12345678"])).toBe("undo");
});

it("leaves prompts alone", () => {
  for (const words of [[], ["explain"], ["sow the seeds"], ["aply", "this"], ["undu", "ch_1", "please"]])
    expect(meantCommand(words)).toBeUndefined();
});
