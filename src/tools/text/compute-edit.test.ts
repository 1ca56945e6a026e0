import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { computeEdit, type TextEdit } from "./compute-edit.js";
import { applySplices } from "./splice.js";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const edit = (oldText: string, newText: string, all = false): TextEdit => ({ oldText, newText, all });
const editText = async (before: string | Buffer, ...edits: TextEdit[]) =>
  (await computeEdit("a.txt", Buffer.from(before as string), edits)).after;

describe("what the model sends as LF", () => {
  it.each([
    ["CRLF", "a\r\nb\r\nc\r\n", edit("a\nb", "a\nx\ny"), "a\r\nx\r\ny\r\nc\r\n"],
    ["LF, and CRLF from the model", "a\nb\n", edit("a\r\nb", "a\r\nc\r\nd"), "a\nc\nd\n"],
    ["CR only", "a\rb\rc", edit("a\nb", "a\nx\ny"), "a\rx\ry\rc"],
    ["a CR beside LF, which is a character", "50%\r100%\nend\n", edit("50%\r100%", "50%\r90%"), "50%\r90%\nend\n"],
    ["unchanged lines of mixed endings", "a\r\nb\nc\r\nd\n", edit("a\nb\nc\nd", "a\nB\nc\nd"), "a\r\nB\nc\r\nd\n"],
    [
      "unchanged lines between changed ones",
      "1\r\na\r\nb\nc\r\nd\n2\n",
      edit("a\nb\nc\nd", "A\nnew\nb\nc\nD"),
      "1\r\nA\r\nnew\r\nb\nc\r\nD\n2\n",
    ],
    ["changed lines of mixed endings, one by one", "a\nb\r\nc\n", edit("a\nb\nc", "A\nB\nC"), "A\nB\r\nC\n"],
    ["a neighbour's ending for a first new line", "x\r\na = 1", edit("a = 1", "a = 1\nb = 2"), "x\r\na = 1\r\nb = 2"],
    ["the given ending where the file has none", "a", edit("a", "a\r\nb"), "a\r\nb"],
    ["the deletion of a whole CRLF line", "a\r\nb\r\nc", edit("b\n", ""), "a\r\nc"],
    ["the insertion before a CRLF", "a\r\nb", edit("a", "ab"), "ab\r\nb"],
    ["a byte order mark in the file", "\ufeffa\nb", edit("a", "x"), "\ufeffx\nb"],
    ["byte order marks on both sides", "\ufeffa\nb", edit("\ufeffa", "\ufeffx"), "\ufeffx\nb"],
    ["no last line feed", "a\nb", edit("b", "c"), "a\nc"],
    ["NUL", "a\0b\0c", edit("b", "x"), "a\0x\0c"],
    ["dollar signs", "a", edit("a", "$&$1$$"), "$&$1$$"],
  ])("keeps %s", async (_name, before, change, after) => {
    expect((await editText(before, change)).toString()).toBe(after);
  });
});

describe("files that are no UTF-8", () => {
  it("replaces bytes between others", async () => {
    const before = latin1("caf\u00e9 = 1\r\n\u00ff\u00fe\n");
    expect(await editText(before, edit(" = 1\n", " = 2\n"))).toEqual(latin1("caf\u00e9 = 2\r\n\u00ff\u00fe\n"));
  });

  it("adds only ASCII to them, or what they hold as UTF-8 where it is replaced", async () => {
    const before = Buffer.concat([latin1("\u00e9 "), Buffer.from("naïve\n")]);
    await expect(editText(before, edit("v", "ü"))).rejects.toThrow(
      "Cannot write 'ü' into a.txt: the file is not valid UTF-8, so its encoding is unknown. Only ASCII can be added to it.",
    );
    expect(await editText(before, edit("naïve", "ïï"))).toEqual(
      Buffer.concat([latin1("\u00e9 "), Buffer.from("ïï\n")]),
    );
  });

  it("says that a replacement character matches nothing", async () => {
    await expect(editText(latin1("caf\u00e9"), edit("caf\ufffd", "cafe"))).rejects.toThrow(
      "U+FFFD stands for bytes that are not valid UTF-8 and matches none of them: leave them out.",
    );
  });

  it.each([
    ["little", [0xff, 0xfe, 0x61, 0]],
    ["big", [0xfe, 0xff, 0, 0x61]],
  ])("refuses UTF-16, %s end first", async (_name, bytes) => {
    await expect(editText(Buffer.from(bytes), edit("a", "b"))).rejects.toThrow(
      "Cannot edit a.txt: it is UTF-16 text. Only UTF-8 can be edited.",
    );
  });

  it("refuses half a character", async () => {
    await expect(editText("a", edit("a", "\ud83d"))).rejects.toThrow("new_text holds half of a surrogate pair");
  });
});

describe("several edits", () => {
  it("makes each on what the one before it left", async () => {
    const computed = await computeEdit("a", Buffer.from("one two"), [edit("one", "three"), edit("three t", "T")]);
    expect(computed).toEqual({
      after: Buffer.from("Two"),
      spans: [{ start: 0, end: 5, length: 1 }],
      replaced: 2,
      looseLines: [],
    });
  });

  it("replaces all, left to right", async () => {
    const computed = await computeEdit("a", Buffer.from("aaaaa"), [edit("aa", "b", true)]);
    expect([computed.after.toString(), computed.replaced]).toEqual(["bba", 2]);
  });

  it("takes all occurrences in a long line without going over it again and again", async () => {
    const count = 50_000;
    const before = Buffer.from("x,".repeat(count));
    const { after, replaced } = await computeEdit("a", before, [edit(",", ",\n", true)]);
    expect([replaced, after.equals(Buffer.from("x,\n".repeat(count)))]).toEqual([count, true]);
  });

  it("is an error where nothing changes in the end", async () => {
    const sentence = "No changes made to a.txt. The replacement gives exactly what is there";
    await expect(editText("a b", edit("a", "a"))).rejects.toThrow(sentence);
    await expect(editText("a\r\nb", edit("a\nb", "a\r\nb"))).rejects.toThrow(sentence);
    await expect(editText("a b", edit("a", "c"), edit("c", "a"))).rejects.toThrow(sentence);
  });
});

// Files made of parts around one text that stands nowhere else, so that what must come out is known without asking.
const ending = fc.constantFrom("\n", "\r\n");
const surroundings = fc
  .array(fc.constantFrom("x", "y y", "é", "\0", "\u00ff", "\n", "\r\n", "\r", "end "), { maxLength: 20 })
  .map((parts) => parts.join(""));
const word = fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 1, maxLength: 5 });
const mark = fc.constantFrom("", "\u00ef\u00bb\u00bf");

describe("bytes outside of what changes", () => {
  it("are the same, whatever they are", async () => {
    await fc.assert(
      fc.asyncProperty(mark, surroundings, surroundings, word, async (bom, head, tail, newWord) => {
        // As Latin-1: a byte each, mostly no UTF-8 at all.
        const file = (text: string) => latin1(`${bom}${head}<${text}>${tail}`);
        const after = await editText(file("old"), edit("<old>", `<${newWord}>`));
        expect(after).toEqual(file(newWord));
      }),
      { numRuns: runs(500) },
    );
  });

  it("are the same among several lines of any endings", async () => {
    const line = fc.tuple(word, ending);
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        surroundings,
        fc.nat(),
        async (lines, tail, seed) => {
          const chosen = seed % lines.length;
          const numbered = lines.map(([text, end], index): [string, string] => [`${index}${text}`, end]);
          const changed = numbered.map(([text, end], index): [string, string] => [
            index === chosen ? "NEW" : text,
            end,
          ]);
          const bytes = (all: typeof numbered) => latin1(all.map(([text, end]) => text + end).join("") + tail);
          const sent = (all: typeof numbered) => all.map(([text]) => `${text}\n`).join("");
          expect(await editText(bytes(numbered), edit(sent(numbered), sent(changed)))).toEqual(bytes(changed));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("come back by the edit the other way round", async () => {
    const text = fc.array(fc.constantFrom("a", "b", "\n", "é"), { maxLength: 8 }).map((parts) => parts.join(""));
    const around = fc.array(fc.constantFrom("x", "\n", "\r\n", "é", "\0"), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(around, around, ending, text, text, async (head, tail, end, oldText, newText) => {
        fc.pre(oldText !== newText);
        const [old, wished] = [`<${oldText}>`, `<${newText}>`];
        // The endings of what is replaced are all alike, as are those nearest to it: else nobody could know them again.
        const before = Buffer.from(`${head.join("")}${end}${old.replaceAll("\n", end)}${end}${tail.join("")}`);
        const there = await editText(before, edit(old, wished));
        expect(await editText(there, edit(wished, old))).toEqual(before);
      }),
      { numRuns: runs(500) },
    );
  });

  it("are told by the spans", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r"), minLength: 1, maxLength: 3 });
    const edits = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom("a", "b", "c", "\n", "\r"), maxLength: 30 }),
        edits,
        async (before, list) => {
          const file = Buffer.from(before);
          const changes = list.map(([oldText, newText]) => edit(oldText, newText, true));
          const computed = await computeEdit("a", file, changes).catch(() => undefined);
          if (!computed) return;
          let shift = 0;
          const splices = computed.spans.map(({ start, end, length }) => {
            const from = start + shift;
            shift += length - (end - start);
            return { start, end, bytes: computed.after.subarray(from, from + length) };
          });
          expect(applySplices(file, splices)).toEqual(computed.after);
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});
