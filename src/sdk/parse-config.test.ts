import { describe, expect, it } from "vitest";
import { parseConfig } from "./parse-config.js";

const parse = (name: string, text: string) => parseConfig({ path: `/a/${name}`, text, mode: 0o600 });
const json = (text: string) => parse("models.json", text);
const yaml = (text: string) => parse("models.yml", text);

describe("JSON", () => {
  it("is strict, and empty when the text is", async () => {
    expect(await json('{"a":[1,null]}')).toEqual({ a: [1, null] });
    expect(await json(" \n")).toBeUndefined();
  });

  it("tells the place of an error and not the text", async () => {
    await expect(json('{\n  "key": "sk-secret",\n}')).rejects.toMatchObject({
      code: "invalid_config",
      message: "is not valid JSON at line 3, column 1",
    });
    await expect(json('sk-secret at position"')).rejects.toMatchObject({ message: "is not valid JSON" });
  });

  it("is of bounded depth", async () => {
    const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(await json(deep(64))).toBeDefined();
    await expect(json(deep(65))).rejects.toMatchObject({ message: "is nested deeper than 64 levels" });
  });
});

describe("YAML", () => {
  it("keeps an unquoted command whole", async () => {
    const text = 'a: !op read "op://x/y z" # why\nb: !/usr/bin/pass show k\nc: !cmd\nd: "!quoted one"\ne: !!str 5\n';
    expect(await yaml(text)).toEqual({
      a: '!op read "op://x/y z"',
      b: "!/usr/bin/pass show k",
      c: "!cmd",
      d: "!quoted one",
      e: "5",
    });
  });

  it.each(['a: !sh "-c x"', "a: !op {b: c}", "a: !op |\n  text"])(
    "asks for quotes where it cannot: %j",
    async (text) => {
      await expect(yaml(text)).rejects.toMatchObject({
        code: "invalid_config",
        message: expect.stringMatching(/^line 1, column \d+: put quotes around a value that begins with "!"$/),
      });
    },
  );

  it.each([
    ["a: 1\nkey: sk-secret: x", "is not valid YAML at line 2, column 6 (block as implicit key)"],
    ["a: 1\na: 2", "is not valid YAML at line 2, column 1 (duplicate key)"],
    ["- a\nsk-secret: 1", "is not valid YAML at line 2, column 1 (unexpected token)"],
    ["a: *sk-secret", "is not valid YAML (an alias without its anchor, or too many)"],
  ])("tells the place of an error and not the text: %j", async (text, message) => {
    await expect(yaml(text)).rejects.toMatchObject({ code: "invalid_config", message });
  });

  it("refuses a value that contains itself, and one that explodes", async () => {
    await expect(yaml("a: &x {b: *x}")).rejects.toMatchObject({ message: "is nested deeper than 64 levels" });
    const bomb = ["a0: &a0 [x, x]"];
    for (let level = 1; level < 30; level++) bomb.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
    await expect(yaml(bomb.join("\n"))).rejects.toMatchObject({
      message: "is not valid YAML (an alias without its anchor, or too many)",
    });
  });

  it("allows anchors in measure and reaches no prototype", async () => {
    const value = await yaml("a: &x {c: 1}\nb: *x\n__proto__: {polluted: 1}\n");
    expect(value).toMatchObject({ a: { c: 1 }, b: { c: 1 } });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
