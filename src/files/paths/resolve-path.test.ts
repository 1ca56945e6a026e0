import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GalleyError } from "../../base/errors.js";
import { displayPath, isWithin, printable, quoted, shownBelow, spellings } from "./resolve-path.js";

const base = { cwd: "/work", home: "/home/me" };

describe("spellings", () => {
  it.each([
    ["a.ts", ["/work/a.ts"]],
    ["/etc/hosts", ["/etc/hosts"]],
    ["~", ["/home/me"]],
    ["~/x", ["/home/me/x"]],
    ["@a.ts", ["/work/@a.ts", "/work/a.ts"]],
    ["@~/x", ["/work/@~/x", "/home/me/x"]],
    ["a\u00a0b\u3000c", ["/work/a\u00a0b\u3000c", "/work/a b c"]],
    ["@", ["/work/@"]],
    ["a/../../b", ["/b"]],
  ])("%j means %j", (input, expected) => {
    expect(spellings(input, base)).toEqual(expected);
  });

  it.each([
    ["", "Path must not be empty."],
    [" ", "Path must not be empty."],
    ["a\nb", "Path 'a\\nb' contains a control character."],
    ["a\u0085b", "Path 'a\\u0085b' contains a control character."],
    ["~root/x", "Path '~root/x' names another user's home."],
    ["@~root/x", "Path '~root/x' names another user's home."],
    ["x".repeat(256), `Path '${"x".repeat(200)}…' has a component longer than 255 bytes.`],
    ["é".repeat(128), `Path '${"é".repeat(128)}' has a component longer than 255 bytes.`],
    ["x/".repeat(2049), `Path '${"x/".repeat(100)}…' is longer than 4096 bytes.`],
  ])("refuses %j", (input, message) => {
    expect(() => spellings(input, base)).toThrow(new GalleyError("file_refused", message));
  });

  it("gives only absolute paths without control characters, or refuses", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 30 }), (input) => {
        try {
          for (const path of spellings(input, base)) expect(path).toMatch(/^\/[^\p{Cc}]*$/u);
        } catch (error) {
          expect(GalleyError.is(error, "file_refused")).toBe(true);
        }
      }),
    );
  });
});

it("decides containment by components, not by prefix", () => {
  expect(isWithin("/root", "/root")).toBe(true);
  expect(isWithin("/root/a", "/root")).toBe(true);
  expect(isWithin("/root/..a", "/root")).toBe(true);
  expect(isWithin("/root-evil", "/root")).toBe(false);
  expect(isWithin("/", "/root")).toBe(false);
});

it("shows paths relative below cwd, absolute elsewhere, on one line", () => {
  expect(displayPath("/work/a/b", "/work")).toBe("a/b");
  expect(displayPath("/work", "/work")).toBe(".");
  expect(displayPath("/etc/x", "/work")).toBe("/etc/x");
  expect(shownBelow(".", "a\nb")).toBe("a\\nb");
  expect(shownBelow("/", "a")).toBe("/a");
  expect(shownBelow("src", "a")).toBe("src/a");
  expect(printable("a\u001b[31m\u2028\u202eb")).toBe("a\\u001b[31m\\u2028\\u202eb");
  expect(quoted("x".repeat(300))).toBe(`'${"x".repeat(200)}…'`);
});
