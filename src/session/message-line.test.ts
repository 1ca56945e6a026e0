import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMessageLine } from "./message-line.js";

const read = (line: string, before = "") => readMessageLine(line, 0, line.length, before);
const user = { role: "user", content: [{ type: "text", text: "a" }], timestamp: 1 };
const entry = { type: "message", id: "0a", parentId: null as string | null, timestamp: "2026-01-01", message: user };
const line = JSON.stringify(entry);

describe("a line in the form that is written", () => {
  it("is what JSON.parse makes of it, whatever its message says", () => {
    const id = fc.stringMatching(/^[\w-]{1,40}$/);
    const message = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()).map((value) => structuredClone(value));
    fc.assert(
      fc.property(id, fc.option(id), message, fc.boolean(), (own, parentId, value, isNext) => {
        const text = JSON.stringify({ ...entry, id: own, parentId, message: value });
        expect(read(text, isNext ? (parentId ?? "") : "other")).toEqual(JSON.parse(text));
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("is found in the middle of a text, and nothing beyond its end is read", () => {
    const text = `${line}\n${line}\n${line}`;
    const start = line.length + 1;
    expect(readMessageLine(text, start, start + line.length, "")).toEqual(entry);
    expect(readMessageLine(text, start, start + line.length - 1, "")).toBeUndefined();
    expect(readMessageLine(text, start, start + line.length + 2, "")).toBeUndefined();
    expect(readMessageLine(text, start, start + 20, "")).toBeUndefined();
  });
});

describe("every other line is left to the parser", () => {
  it.each([
    "",
    "{}",
    ` ${line}`,
    `${line} `,
    `${line}\r`,
    line.slice(0, -1),
    `${line}}`,
    line + line,
    line.replace('"id":"0a"', '"id":""'),
    line.replace('"id":"0a"', '"id":7'),
    line.replace('"id":"0a"', '"id":"\\u0061"'),
    line.replace('"id":"0a"', '"id":"é"'),
    line.replace('"id":"0a"', `"id":"${"a".repeat(65)}"`),
    line.replace('"type":"message"', '"type":"custom"'),
    line.replace('"parentId":null,', ""),
    line.replace('"parentId":null', '"parentId":[]'),
    `${line.slice(0, -1)},"extra":1}`,
    `${line.slice(0, -1)},"message":{}}`,
    line.replace(/"message":\{.*$/, '"message":"text"}'),
    line.replace(/"message":\{.*$/, '"message":[{}]}'),
    line.replace(/"message":\{.*$/, '"message":{},{}}'),
    line.replace(/"message":\{.*$/, '"message":{}'),
  ])("%s", (text) => {
    expect(read(text)).toBeUndefined();
  });

  it("also where one character of it is another", () => {
    const characters = fc.constantFrom(...'{}[]",:\\ \t\r\u0000\u2028aé0-'.split(""));
    fc.assert(
      fc.property(fc.nat(line.length - 1), characters, (at, character) => {
        const text = line.slice(0, at) + character + line.slice(at + 1);
        const found = read(text);
        if (found) expect(found).toEqual(JSON.parse(text)); // throws for what is no JSON
      }),
      { numRuns: 2000 },
    );
  });
});
