import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GrepLine } from "./grep-first.js";
import { type GrepListener, GrepReader } from "./grep-reader.js";

type EmptyLine = "\n" | "\r\n";

/** What a reader makes of an output that arrives in these pieces. Files in `unwanted` are turned down. */
function readAll(chunks: readonly Uint8Array[], unwanted: readonly string[] = [], emptyLine: EmptyLine = "\n") {
  const files: { path: string; lines: GrepLine[]; isBinary?: true }[] = [];
  let ends = 0;
  const listener: GrepListener = {
    onFile(path) {
      if (unwanted.includes(path)) return false;
      files.push({ path, lines: [] });
      return true;
    },
    onLine: (line) => files.at(-1)?.lines.push(line),
    onBinary: () => {
      Object.assign(files.at(-1) ?? {}, { isBinary: true });
    },
    onFileEnd: () => {
      ends++;
    },
  };
  const reader = new GrepReader(listener, emptyLine);
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { files, ends };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const match = (number: number, text: string, isCut = false) => ({ number, text, isMatch: true, isCut });
const context = (number: number, text: string) => ({ number, text, isMatch: false, isCut: false });

describe.each<EmptyLine>(["\n", "\r\n"])("an output of ripgrep with %j between files", (emptyLine) => {
  const output = Buffer.from(
    "./a\n1:b.txt\x001:one\n2-\n13:12:x\r\n\n./skip\x001:no\n2:no\n\n./b.bin\x001:one\n./b.bin: WARNING: stopped\n\n./c\x007:\u001b[31mred\n".replaceAll(
      "\n\n",
      `\n${emptyLine}`,
    ),
  );
  const expected = {
    files: [
      { path: "./a\n1:b.txt", lines: [match(1, "one"), context(2, ""), match(13, "12:x")] },
      { path: "./b.bin", lines: [match(1, "one")], isBinary: true },
      { path: "./c", lines: [match(7, "red")] },
    ],
    ends: 2,
  };

  it("is read by file and line, whatever the names are like", () => {
    expect(readAll([output], ["./skip"], emptyLine)).toEqual(expected);
  });

  it("reads the same in any pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
        expect(readAll(cut(output, places), ["./skip"], emptyLine)).toEqual(expected);
      }),
    );
  });

  it("reads a line without a number alike in one piece and in two", () => {
    const bytes = Buffer.from("\0\n\r\n\0");
    for (let place = 0; place <= bytes.length; place++)
      expect(readAll(cut(bytes, [place]), [], emptyLine)).toEqual(readAll([bytes], [], emptyLine));
  });

  it("never throws and holds little, whatever comes", () => {
    const piece = fc.oneof(fc.constantFrom("\0", "\n", "\n\n", "\n\r\n", "\r", "./p\0", "12:", "3-", "x"), fc.string());
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(), { maxLength: 5 }), (texts, places) => {
        const bytes = Buffer.from(texts.join(""));
        expect(readAll(cut(bytes, places), [], emptyLine)).toEqual(readAll([bytes], [], emptyLine));
      }),
    );
  });
});

describe("long lines", () => {
  it("are cut at 1024 characters, and what follows them is read", () => {
    const output = Buffer.from(`./a\x001:${"é".repeat(3_000_000)}\n2:next\n`);
    const chunks = Array.from({ length: Math.ceil(output.length / 65_536) }, (_, index) =>
      output.subarray(index * 65_536, (index + 1) * 65_536),
    );
    const [file] = readAll(chunks).files;
    expect(file?.lines).toEqual([match(1, `${"é".repeat(1024)}…`, true), match(2, "next")]);
  });

  it("are cut alike in one piece and in many", () => {
    fc.assert(
      fc.property(fc.integer({ min: 900, max: 9000 }), fc.array(fc.nat(), { maxLength: 4 }), (length, places) => {
        const output = Buffer.from(`./a\x001:${"x".repeat(length)}\n2:next\n`);
        const shown = length > 1024 ? match(1, `${"x".repeat(1024)}…`, true) : match(1, "x".repeat(length));
        expect(readAll(cut(output, places)).files).toEqual([{ path: "./a", lines: [shown, match(2, "next")] }]);
      }),
    );
  });
});
