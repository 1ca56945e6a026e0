import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineReader, maxRecordBytes } from "./line-reader.js";

describe("lines", () => {
  it("become the same frames however the bytes are cut", () => {
    const frames = [{ type: "a", text: "ä€😀\u2028\u2029\u0085" }, { type: "b", deep: [[{ x: null }]] }, { type: "c" }];
    const bytes = Buffer.from(`\ufeff${frames.map((frame) => JSON.stringify(frame)).join("\r\n\n  \n")}`);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const reader = new LineReader();
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        let start = 0;
        const seen = ends.flatMap((end) => {
          const piece = bytes.subarray(start, end);
          start = end;
          return reader.push(piece);
        });
        expect([...seen, ...reader.end()]).toEqual(frames.map((value) => ({ ok: true, value })));
        expect(reader.end()).toEqual([]);
      }),
    );
  });

  it.each([
    ["no JSON", Buffer.from("{oops}")],
    ["no object", Buffer.from("[]")],
    ["no type", Buffer.from('{"type":1}')],
    ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ])("that are %s cost one problem, and the next is read", (_, line) => {
    const reader = new LineReader();
    const frames = reader.push(Buffer.concat([line, Buffer.from('\n{"type":"a"}\n')]));
    expect(frames).toMatchObject([{ ok: false }, { ok: true, value: { type: "a" } }]);
  });

  it("that never end are not kept", () => {
    const reader = new LineReader();
    const block = Buffer.alloc(maxRecordBytes / 2, "x");
    for (let index = 0; index < 3; index++) expect(reader.push(block)).toEqual([]);
    expect(reader.push(Buffer.from('\n{"type":"a"}\n'))).toEqual([
      { ok: false, problem: `a line of more than ${maxRecordBytes} bytes` },
      { ok: true, value: { type: "a" } },
    ]);
  });
});
