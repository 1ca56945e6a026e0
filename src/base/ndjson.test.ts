import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { encodeFrame, type Frame, FrameReader, maxNesting, parseRecord } from "./ndjson.js";

function read(...chunks: (string | Uint8Array)[]): Frame[] {
  const reader = new FrameReader();
  const frames = chunks.flatMap((chunk) => reader.push(Buffer.from(chunk as string)));
  return [...frames, ...reader.end()];
}

const values = (frames: Frame[]) => frames.map((frame) => (frame.ok ? frame.value : frame.problem));

describe("FrameReader", () => {
  it("reads LF and CRLF records, skips blank ones, strips a BOM only at the start of the stream", () => {
    expect(values(read('\uFEFF{"type":"a"}\r\n\n  \t\r\n{"type":"b"}\n'))).toEqual([{ type: "a" }, { type: "b" }]);
    expect(read('{"type":"a"}\n\uFEFF{"type":"b"}\n')[1]?.ok).toBe(false);
  });

  it("keeps U+2028, U+2029, U+0085 and form feed inside a record", () => {
    const text = "a\u2028b\u2029c\u0085d\fe";
    expect(values(read(`{"type":"a","text":"${text.replace("\f", "\\f")}"}\n`))).toEqual([{ type: "a", text }]);
  });

  it("processes a last record without LF", () => {
    expect(values(read('{"type":"a"}\n{"type":"b"}'))).toEqual([{ type: "a" }, { type: "b" }]);
  });

  it("survives a multi-byte character split over two reads", () => {
    const bytes = Buffer.from('{"type":"a","text":"प🙂"}\n');
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(values(read(bytes.subarray(0, cut), bytes.subarray(cut)))).toEqual([{ type: "a", text: "प🙂" }]);
  });

  it("answers each malformed record once and goes on", () => {
    const bad = ["hello", "null", "[]", "7", '"text"', "{}", '{"type":7}', '{"type":"a"', '{"type":"a"}\u0000'];
    for (const record of bad) {
      const frames = read(`${record}\n{"type":"next"}\n`);
      expect(frames.map((frame) => frame.ok)).toEqual([false, true]);
    }
    expect(values(read("hello\n"))).toEqual([`Unexpected token 'h', "hello" is not valid JSON`]);
    expect(values(read(Buffer.from([0x7b, 0xff, 0x7d, 0x0a])))).toEqual(["Invalid UTF-8"]);
  });

  it("drops a record above the limit in constant memory and reads the next one", () => {
    const reader = new FrameReader(1000);
    const frames: Frame[] = [];
    for (let chunk = 0; chunk < 50; chunk++) frames.push(...reader.push(Buffer.alloc(100, 0x61)));
    frames.push(...reader.push(Buffer.from('\n{"type":"next"}\n')));
    expect(values(frames)).toEqual(["Record exceeds 1000 bytes", { type: "next" }]);
  });

  it("refuses deep nesting and too many keys before parsing, but not brackets inside strings", () => {
    const deep = (levels: number) => `{"type":"a","v":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(read(`${deep(maxNesting - 1)}\n`)[0]?.ok).toBe(true);
    expect(values(read(`${deep(maxNesting)}\n`))).toEqual([`Nesting exceeds ${maxNesting} levels`]);
    expect(read(`{"type":"a","v":"${"[".repeat(500)}\\"${"{".repeat(500)}"}\n`)[0]?.ok).toBe(true);
    const wide = `{"type":"a",${Array.from({ length: 100_001 }, (_, index) => `"${index}":0`).join(",")}}`;
    expect(values(read(`${wide}\n`))).toEqual(["An object has more than 100000 keys"]);
  });

  it("sees where a string ends that backslashes stand at the end of", () => {
    const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
    for (const backslashes of ["\\\\", "\\\\\\\\", '\\"\\\\'])
      expect(values(read(`{"type":"a","a":"${backslashes}","v":${deep}}\n`))).toEqual([
        `Nesting exceeds ${maxNesting} levels`,
      ]);
    for (const escapedQuote of ['\\"', '\\\\\\"'])
      expect(read(`{"type":"a","v":"${escapedQuote}${"[".repeat(200)}"}\n`)[0]?.ok).toBe(true);
  });

  it("gives the same frames however the bytes are cut", () => {
    const record = fc.oneof(
      fc.json().map((text) => `{"type":"x","v":${text}}`),
      fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", "")),
    );
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (records, sizes) => {
          const bytes = Buffer.from(records.join("\n"));
          const chunks: Buffer[] = [];
          for (let start = 0; start < bytes.length; ) {
            const size = sizes.next().value as number;
            chunks.push(bytes.subarray(start, start + size));
            start += size;
          }
          expect(read(...chunks)).toEqual(read(bytes));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("takes time linear in the bytes when a record comes in tiny pieces", () => {
    // Counted, not timed: the pieces are joined once, so pushing never copies what came before.
    const reader = new FrameReader();
    const original = Buffer.concat;
    let joined = 0;
    Buffer.concat = (list, total) => {
      joined++;
      return original(list, total);
    };
    try {
      reader.push(Buffer.from('{"type":"a","v":"'));
      for (let piece = 0; piece < 10_000; piece++) reader.push(Buffer.from("x"));
      expect(reader.push(Buffer.from('"}\n'))[0]?.ok).toBe(true);
    } finally {
      Buffer.concat = original;
    }
    expect(joined).toBe(1);
  });
});

describe("encodeFrame", () => {
  it("writes one line that any line reader keeps whole, and that reads back the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const value = { type: "x", text };
        const line = encodeFrame(value);
        expect(line.slice(0, -1)).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
        expect(parseRecord(Buffer.from(line.slice(0, -1)))).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify(value)),
        });
      }),
    );
  });

  it("leaves undefined members out", () => {
    expect(encodeFrame({ type: "response", id: undefined })).toBe('{"type":"response"}\n');
  });
});
