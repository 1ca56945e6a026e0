import { describe, expect, it } from "vitest";
import { checkMember, checkValue, fromText, type Item, type Kind, type Setting } from "./setting.js";

const setting = (kind: Kind): Setting<unknown> => ({ kind, default: undefined, projectMay: "set" });
const check = (kind: Kind, value: unknown) => checkValue(setting(kind), value);
const accepted = (value: unknown) => ({ ok: true, value });
const expected = (text: string) => ({ ok: false, expected: text });

const boolean: Kind = { type: "boolean" };
const whole: Kind = { type: "number", min: 0, max: 10, isWhole: true };
const fraction: Kind = { type: "number", min: -1, max: 2, isWhole: false };
const choice: Kind = { type: "choice", values: ["a", "b"], instead: { old: "a" } };
const text: Kind = { type: "text" };
const list: Kind = { type: "list" };
const texts = { type: "record", of: "text" } as const;
const lists = { type: "record", of: "list" } as const;

describe("checkValue", () => {
  it.each<[Kind, unknown[], unknown[], string]>([
    [boolean, [true, false], [1, "true", null, [], {}], "true or false"],
    [whole, [0, 10], [-1, 11, 1.5, "3", Number.NaN, true], "a whole number from 0 to 10"],
    [fraction, [-1, 0.5, 2], [2.1, Number.POSITIVE_INFINITY, Number.NaN, "1"], "a number from -1 to 2"],
    [choice, ["a", "b"], ["c", "A", "constructor", 1, ["a"]], "one of a, b"],
    [text, ["x", "a b", "ü"], ["", "  ", "a\nb", "\u001b[0m", "x".repeat(4097), 5], "a text of one line, not empty"],
    [list, [[], ["a", "b"]], ["a", [1], [""], Array(1001).fill("x"), {}, [["a"]]], "a list of texts"],
    [texts, [{}, { a: "x" }], [[], "x", { a: 1 }, { "": "x" }, { constructor: "x" }], "an object of texts"],
    [lists, [{ a: ["x"] }], [{ a: "x" }, { a: [1] }], "an object of lists of texts"],
  ])("%j takes what fits and says what it expects", (kind, good, bad, sentence) => {
    for (const value of good) expect(check(kind, value)).toEqual(accepted(value));
    for (const value of bad) expect(check(kind, value)).toEqual(expected(sentence));
  });

  it("replaces another program's value and says so", () => {
    expect(check(choice, "old")).toEqual({ ok: true, value: "a", notice: '"old" is not supported, "a" is used' });
  });

  it("returns a frozen copy, so that callers cannot change a setting", () => {
    const given = ["a"];
    const checked = check(list, given);
    given.push("b");
    expect(checked).toEqual(accepted(["a"]));
    expect(checked.ok && Object.isFrozen(checked.value)).toBe(true);
    const record = check(texts, { a: "x" });
    expect(record.ok && Object.isFrozen(record.value)).toBe(true);
  });

  it("refuses an own __proto__ member", () => {
    expect(check(texts, JSON.parse('{"__proto__":"x"}'))).toEqual(expected("an object of texts"));
  });
});

describe("a list of hosts or paths", () => {
  const check = (of: Item, value: unknown) =>
    checkValue({ kind: { type: "list", of }, default: [], projectMay: "set" }, value);

  it("takes what fits, frozen", () => {
    const hosts = ["a.example", "*.b.example:8443", "localhost:5432", "[::1]:80"];
    expect(check("host", hosts)).toEqual(accepted(hosts));
    const paths = ["/srv/keys", "~/vault", "~"];
    const checked = check("path", paths);
    expect(checked).toEqual(accepted(paths));
    expect(checked.ok && Object.isFrozen(checked.value)).toBe(true);
  });

  it.each<[Item, unknown]>([
    ["host", "https://a.example"],
    ["host", "a.example/x"],
    ["host", "a b"],
    ["host", "a%41.example"],
    ["host", "a\0.example"],
    ["host", "localhost"],
    ["host", 80],
    ["host", null],
    ["path", "vault"],
    ["path", "./vault"],
    ["path", "~other/vault"],
    ["path", "/a\0b"],
    ["path", ""],
    ["path", 1],
  ])("names the %s %j and keeps the others", (of, bad) => {
    const good = of === "host" ? "c.example" : "/srv";
    const expected = expect.any(String);
    expect(check(of, [good, bad])).toEqual({ ok: false, expected, wrong: [{ value: bad, expected }], rest: [good] });
  });

  it("refuses as a whole what is no list", () => {
    expect(check("host", "a.example")).toEqual(expected("a list of hosts"));
    expect(check("path", Array(1001).fill("/x"))).toEqual(expected("a list of paths"));
  });
});

it("checkMember checks the name and the value", () => {
  expect(checkMember(texts, "a", "x")).toEqual(accepted("x"));
  expect(checkMember(texts, "a", 1)).toEqual(expected("a text of one line, not empty"));
  expect(checkMember(lists, "a", "x")).toEqual(expected("a list of texts"));
  expect(checkMember(texts, "\u0007", "x")).toEqual(expected("a name of one line, not empty"));
});

it.each<[Kind, string, unknown]>([
  [boolean, "Yes", true],
  [boolean, "ON", true],
  [boolean, "1", true],
  [boolean, "off", false],
  [boolean, "0", false],
  [boolean, "maybe", undefined],
  [whole, " 5 ", 5],
  [whole, "-1", -1],
  [fraction, ".5", 0.5],
  [fraction, "1e3", 1000],
  [whole, "", undefined],
  [whole, "0x10", undefined],
  [whole, "Infinity", undefined],
  [choice, "a", "a"],
  [text, "a=b", "a=b"],
  [list, "a, b", ["a", "b"]],
  [list, "", []],
  [list, '["a,b"]', ["a,b"]],
  [list, "[a", undefined],
  [texts, '{"a":"x"}', { a: "x" }],
  [texts, "a", undefined],
])("fromText reads %j from %j", (kind, word, value) => expect(fromText(kind, word)).toEqual(value));
