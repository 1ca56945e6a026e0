import { describe, expect, it, vi } from "vitest";
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
    ["a: *sk-secret", "is not valid YAML (an alias without its anchor, or inside of it)"],
  ])("tells the place of an error and not the text: %j", async (text, message) => {
    await expect(yaml(text)).rejects.toMatchObject({ code: "invalid_config", message });
  });

  it("refuses a value that contains itself, and one that explodes", async () => {
    const inside = { message: "is not valid YAML (an alias without its anchor, or inside of it)" };
    await expect(yaml("a: &x {b: *x}")).rejects.toMatchObject(inside);
    await expect(yaml("a: &x 1\nb: &x [*x]")).rejects.toMatchObject(inside);
    const bomb = ["a0: &a0 [x, x]"];
    for (let level = 1; level < 30; level++) bomb.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
    await expect(yaml(bomb.join("\n"))).rejects.toMatchObject({ message: "has more than 100000 values" });
    await expect(yaml(`a: &x [${"x,".repeat(1000)}]\nb: [${"*x,".repeat(200)}]`)).rejects.toMatchObject({
      message: "has more than 100000 values",
    });
  });

  it("is of bounded depth, through aliases too", async () => {
    const tooDeep = { code: "invalid_config", message: "is nested deeper than 64 levels" };
    const nested = (levels: number, inner = "") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
    const blocks = (levels: number) =>
      Array.from({ length: levels }, (_, level) => `${" ".repeat(level)}a:`).join("\n");
    expect(await yaml(nested(64))).toBeDefined();
    expect(await yaml(blocks(64))).toBeDefined();
    expect(await yaml(`a: &x ${nested(31)}\nb: ${nested(32, "*x")}`)).toBeDefined();
    for (const text of [nested(65), blocks(65), `a: &x ${nested(32)}\nb: ${nested(32, "*x")}`])
      await expect(yaml(text)).rejects.toMatchObject(tooDeep);
  });

  // Half a minute for one kilobyte, and the end of the process for a few more, where the library makes the value.
  it("never lets the library name a key that is a map, nor compose what is nested without end", async () => {
    const library = await import("yaml");
    const slow = [library.YAMLMap.prototype, library.YAMLSeq.prototype].map((prototype) =>
      vi.spyOn(prototype, "toJSON"),
    );
    const key = { code: "invalid_config", message: expect.stringMatching(/\(a key that is not plain text\)$/) };
    for (const text of ["? ? ? a", "? [a]\n: 1", "{? {? a}}", "{[a]: 1}", "a: &x b\n*x : 1", "? ".repeat(60)])
      await expect(yaml(text)).rejects.toMatchObject(key);
    for (const mark of ["? ", "[", "{? ", "- ", "a: ", ": "])
      await expect(yaml(mark.repeat(100_000))).rejects.toMatchObject({ message: "is nested deeper than 64 levels" });
    expect(slow.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    vi.restoreAllMocks();
  });

  it("reads a bounded number of words", async () => {
    expect(await yaml("- a\n".repeat(10_000))).toHaveLength(10_000);
    for (const text of ["- a\n", "---\n"])
      await expect(yaml(text.repeat(400_000))).rejects.toMatchObject({ message: "is too long to be read" });
  });

  it("takes keys as text, each once", async () => {
    expect(await yaml("1: a\ntrue: b\n~: c\n? d\n")).toEqual({ "1": "a", true: "b", "": "c", d: null });
    await expect(yaml('1: a\n"1": b')).rejects.toMatchObject({
      message: "is not valid YAML at line 2, column 1 (duplicate key)",
    });
    expect(await yaml("%YAML 1.1\n---\na: yes\nb: &b {x: 1}\nc: {<<: *b}")).toEqual({
      a: "yes",
      b: { x: 1 },
      c: { "<<": { x: 1 } },
    });
    expect(await yaml("# nothing but a remark\n")).toBeNull();
  });

  it("allows anchors in measure and reaches no prototype", async () => {
    const value = await yaml("a: &x {c: 1}\nb: *x\n__proto__: {polluted: 1}\n");
    expect(value).toMatchObject({ a: { c: 1 }, b: { c: 1 } });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
