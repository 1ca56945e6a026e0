import { expect, it } from "vitest";
import { parseEnvFile } from "./env-file.js";

const values = (text: string) => {
  const { values, problem } = parseEnvFile(text);
  expect(problem).toBeUndefined();
  return Object.fromEntries(values);
};

it.each([
  ["A=1\nB=two words\n", { A: "1", B: "two words" }],
  ["  A = 1  \r\n\r\nB=2", { A: "1", B: "2" }],
  ["# note\nexport A=1 # why\nB=a#b", { A: "1", B: "a#b" }],
  ["A=\nB=# nothing", { A: "", B: "" }],
  ["A='x # $Y \\n' # why", { A: "x # $Y \\n" }],
  ['A="x # \\"q\\" \\n\\t\\\\ \\$" # why', { A: 'x # "q" \n\t\\ $' }],
  ["A=$HOME/${X}`id`$(id)", { A: "$HOME/${X}`id`$(id)" }],
  ["A=1\nA=2", { A: "2" }],
  ["A=it's", { A: "it's" }],
  ["", {}],
])("reads %j", (text, expected) => expect(values(text)).toEqual(expected));

it("tells the lines it does not understand, never their text", () => {
  const text = ["sk-secret", "1A=x", "A B=x", "C='open", 'D="x" y', "E=a\u0000b", "OK=1"].join("\n");
  const { values, problem } = parseEnvFile(text);
  expect(Object.fromEntries(values)).toEqual({ OK: "1" });
  expect(problem).toBe("line 1, 2, 3, 4, 5 and 1 more: expected NAME=value");
});

it("is bounded", () => {
  expect(parseEnvFile(`A=${"x".repeat(256 * 1024)}`)).toEqual({
    values: new Map(),
    problem: "is longer than 262144 characters; not used",
  });
  const backslashes = `A="${"\\".repeat(100_000)}`;
  expect(parseEnvFile(backslashes).problem).toBe("line 1: expected NAME=value");
});

it("keeps __proto__ an ordinary name", () => {
  const result = values("__proto__=x");
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  expect(Object.keys(result)).toEqual(["__proto__"]);
});
