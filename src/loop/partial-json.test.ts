// Reading unfinished JSON: what is complete is exact, what is not never throws, and hostile text costs no more.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { isObject } from "../base/json.js";
import { parsePartialObject } from "./partial-json.js";

describe("parsePartialObject", () => {
  it.each([
    ["", {}],
    ["  ", {}],
    ["{", {}],
    ["[1,2", {}],
    ["[1,2]", {}],
    ['"text"', {}],
    ["nonsense", {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":-', {}],
    ['{"a":tru', {}],
    ['{"a":12', { a: 12 }],
    ['{"a":1,"b":"x', { a: 1, b: "x" }],
    ['{ "a" : [ 1 , { "b" : null', { a: [1, { b: null }] }],
    ['{"a":[', { a: [] }],
    ['{"a":[1,]}', { a: [1] }],
    ['{"a":{},"b":[],"c":{ },"d":1', { a: {}, b: [], c: {}, d: 1 }],
    ['{"a":1 "b":2}', { a: 1 }],
    ['{"a":"one\\ntwo\\', { a: "one\ntwo" }],
    ['{"a":"back\\\\', { a: "back\\" }],
    ['{"a":"quote\\"', { a: 'quote"' }],
    ['{"a":"\\u00e9\\u00', { a: "é" }],
    ['{"a":"raw\nbreak', { a: "raw\nbreak" }],
  ])("%j", (text, expected) => {
    expect(parsePartialObject(text)).toEqual(expected);
  });

  it("treats __proto__ as an ordinary member", () => {
    const value = parsePartialObject('{"__proto__":{"polluted":true},"b":1,');
    expect(Object.keys(value)).toEqual(["__proto__", "b"]);
    expect("polluted" in value).toBe(false);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("reads every prefix of an object: complete members are exact, at most one more has begun", () => {
    const members = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    fc.assert(fc.property(members, fc.constantFrom("", " ", "\n  "), everyPrefixReads));
  });

  it("never throws and always gives an object, whatever the text", () => {
    const hostile = fc.array(fc.constantFrom(...'{}[]",:\\u0aé\n', "tru", "null", "-1.e", '{"a":'), { maxLength: 60 });
    fc.assert(
      fc.property(
        hostile.map((parts) => parts.join("")),
        (text) => isObject(parsePartialObject(text)),
      ),
      { numRuns: runs(500) },
    );
  });

  // A quadratic reading of these takes minutes, so the limit of time only tells linear from hopeless.
  describe("costs about the same per character", { timeout: 4000 }, () => {
    const size = 200_000;
    it.each([
      ["an open string", `{"a":"${"x".repeat(size)}`],
      ["an open string of backslashes", `{"a":"${"\\".repeat(size + 1)}`],
      ["an open string of escapes", `{"a":"${"\\u00e9".repeat(size / 6)}\\u0`],
      ["many members", `{${'"k":1,'.repeat(size / 6)}`],
      ["many open strings", `{"a":[${'"\\\\",'.repeat(size / 5)}`],
      ["blanks", `{${" ".repeat(size)}`],
      ["a number", `{"a":[${"1".repeat(size)}`],
      ["open arrays", `{"a":${"[".repeat(size)}`],
      ["open objects", '{"a":'.repeat(size / 5)],
    ])("%s", (_name, text) => {
      expect(isObject(parsePartialObject(text))).toBe(true);
    });
  });

  it("never returns a value that is too deep to serialize, complete or not", () => {
    const open = `{"a":${"[".repeat(20_000)}`;
    for (const text of [open, `${open}${"]".repeat(20_000)}}`]) {
      expect(() => JSON.stringify(parsePartialObject(text))).not.toThrow();
    }
  });
});

function everyPrefixReads(original: { [key: string]: unknown }, gap: string): void {
  // Written by hand, so that the end of every member is known.
  let text = "{";
  const ends: number[] = [];
  for (const [key, value] of Object.entries(original)) {
    text += `${ends.length > 0 ? "," : ""}${gap}${JSON.stringify(key)}:${gap}${JSON.stringify(value)}`;
    ends.push(text.length);
  }
  text += `${gap}}`;
  for (let cut = 0; cut <= text.length; cut++) {
    const prefix = text.slice(0, cut);
    const complete = ends.filter((end) => end <= cut).length;
    const problem = problemOf(parsePartialObject(prefix), original, complete);
    if (problem) expect.fail(`${prefix}: ${problem}`);
  }
}

/** What is wrong with `partial` as a beginning of `whole` of which at least `complete` members are there. */
function problemOf(partial: unknown, whole: unknown, complete = 0): string | undefined {
  if (typeof whole === "string") return whole.startsWith(String(partial)) ? undefined : "another string";
  if (typeof whole === "number") return typeof partial === "number" ? undefined : "no number";
  if (typeof whole !== "object" || whole === null) return partial === whole ? undefined : "another value";
  if (Array.isArray(partial) !== Array.isArray(whole)) return "another kind";
  const found = Object.entries(partial as object);
  const wanted = Object.entries(whole);
  if (found.length < complete || (complete > 0 && found.length > complete + 1)) return `${found.length} members`;
  for (const [index, [key, value]] of found.entries()) {
    const [wantedKey, wantedValue] = wanted[index] ?? [];
    if (key !== wantedKey) return `member ${key}`;
    // Only the last one may be unfinished.
    const isWhole = index < complete || index < found.length - 1;
    if (isWhole && JSON.stringify(value) !== JSON.stringify(wantedValue)) return `a changed ${key}`;
    const problem = isWhole ? undefined : problemOf(value, wantedValue);
    if (problem) return problem;
  }
  return undefined;
}
