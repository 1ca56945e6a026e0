import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { giveInput, inputKind, isOurInput } from "./own-input.js";

test("a child has no input, a text, or ours", () => {
  expect(inputKind(undefined, false)).toBe("ignore");
  expect(inputKind("", true)).toBe("pipe");
  expect(inputKind({ isOurs: true }, false)).toBe("inherit");
  expect(isOurInput(new Uint8Array())).toBe(false);
});

test("a text is written and closed; a child without a pipe needs nothing", async () => {
  const pipe = new PassThrough();
  giveInput("given", pipe);
  expect(await text(pipe)).toBe("given");
  giveInput(undefined, null);
});
