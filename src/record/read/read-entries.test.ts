import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { parseObject } from "../../base/json.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { entryLists, header, linesOf, messageEntry, readText, userEntry } from "../store/store.test-kit.js";
import { maxLineBytes } from "./parse-line.js";
import { SessionReader } from "./read-entries.js";
import { LineSplitter } from "./split-lines.js";

const [a, b, c] = [userEntry("a", null), userEntry("b", "a"), userEntry("c", "b")];
const line = (value: object) => JSON.stringify(value);
const ids = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id);
const places = (entries: readonly SessionEntry[]) => entries.map(({ id, parentId }) => [id, parentId]);

describe("a sound file", () => {
  it("gives back what was written, and nothing to report", () => {
    const read = readText(linesOf(header, a, b));
    expect(read).toMatchObject({ header, version: 3, entries: [a, b], problems: [], problemCount: 0 });
    expect(read.tail).toEqual({ bytes: 0, isWhole: false });
  });

  it("load(write(x)) is x, for random trees and however the bytes are cut (S-7)", () => {
    fc.assert(
      fc.property(entryLists, fc.integer({ min: 1, max: 700 }), (entries, size) => {
        const bytes = Buffer.from(linesOf(header, ...entries));
        const reader = new SessionReader("x");
        for (let start = 0; start < bytes.length; start += size) {
          const chunk = Buffer.from(bytes.subarray(start, start + size));
          reader.push(chunk);
          chunk.fill(0); // the caller may use its buffer again
        }
        const read = reader.end();
        expect(read.entries).toEqual(entries);
        expect(read).toMatchObject({ header, problems: [], length: bytes.length });
      }),
    );
  });

  it("splits at LF only: U+2028 stands inside a text, CR before LF is dropped (S-8)", () => {
    const odd = userEntry("a", null, "one\u2028two\u2029three\u0085four");
    expect(readText(`${line(header)}\r\n${line(odd)}\r\n`).entries).toEqual([odd]);
  });

  it("reads a byte order mark, blank lines and no entries at all", () => {
    expect(readText(`\ufeff${line(header)}\n\n  \n${line(a)}\n`)).toMatchObject({ entries: [a], problemCount: 0 });
    expect(readText(linesOf(header)).entries).toEqual([]);
  });

  it("fills in what a header lacks", () => {
    const read = readText('{"type":"session","id":"x","extra":[1]}\n');
    expect(read.header).toEqual({ type: "session", id: "x", timestamp: "", cwd: "", extra: [1] });
    expect(read.version).toBe(1);
  });
});

describe("what is no session", () => {
  it.each([
    ["a text", "hello\nworld\n"],
    ["nothing", ""],
    ["another object", '{"type":"message","id":"x"}\n'],
    ["a header without an id", '{"type":"session"}\n'],
    ["a blank first line", `\n${line(header)}\n`],
    ["a torn header", line(header).slice(0, -1)],
    ["zeros", "\0".repeat(100)],
    ["binary", Buffer.from([0xff, 0xfe, 0x0a, 0x00])],
  ])("%s is refused", (_name, content) => {
    expect(() => readText(content, "/some/file")).toThrow("Not a session file: /some/file");
  });

  it("is refused before all of it is read", () => {
    const reader = new SessionReader("/big");
    const piece = Buffer.alloc(1024 * 1024, "x");
    expect(() => {
      for (let index = 0; index < 9; index++) reader.push(piece);
    }).toThrow("Not a session file: /big");
  });
});

describe("versions", () => {
  it.each([4, 0, 2.5, "3", null])("%s is reported as it is, and nothing is migrated", (version) => {
    const hook = { ...a, message: { role: "hookMessage" } };
    const read = readText(linesOf({ ...header, version }, hook));
    expect(read.version).toBe(version ?? 1);
    expect(read.entries).toEqual([hook]);
  });
});

describe("bad lines in the middle (S-3)", () => {
  it.each([
    ["torn", line(b).slice(0, 40)],
    ["not JSON", "}{ not json"],
    ["not an object", "[1,2,3]"],
    ["without a type", '{"id":"b","parentId":"a"}'],
    ["zeros", "\0".repeat(4096)],
  ])("%s: skipped and counted, the rest is there", (_name, bad) => {
    const read = readText(`${line(header)}\n${line(a)}\n${bad}\n${line(c)}\n`);
    expect(ids(read.entries)).toEqual(["a", "c"]);
    expect(read.problems).toEqual([
      { kind: "malformed", line: 3 },
      { kind: "missing_parent", line: 4 },
    ]);
    expect(places(read.entries)).toEqual([
      ["a", null],
      ["c", "a"],
    ]);
  });

  it.each([
    ["two objects in one line", line(a) + line(b), ["a", "b"]],
    ["three objects in one line", line(a) + line(b) + line(c), ["a", "b", "c"]],
    ["an object behind a torn one", line(a).slice(0, -20) + line(b), ["b"]],
    ["an object behind zeros", "\0".repeat(512) + line(b), ["b"]],
    ["an object between rubbish and a torn one", `rubbish${line(a)}${line(b).slice(0, -9)}`, ["a"]],
    ["a torn line that ends in a block", '{"type":"message","message":{"content":[{"type":"text","text":"x"}', []],
  ])("%s", (_name, fused, expected) => {
    const read = readText(`${line(header)}\n${fused}\n`);
    expect(ids(read.entries)).toEqual(expected);
    expect(read.problems[0]).toEqual({ kind: expected.length > 0 ? "fused" : "malformed", line: 2 });
  });

  it("finds an entry that is fused with the header", () => {
    const read = readText(`${line(header)}${line(a)}\n${line(b)}\n`);
    expect(ids(read.entries)).toEqual(["a", "b"]);
    expect(read.header).toEqual(header);
  });

  it("keeps a message in which a byte is not UTF-8", () => {
    const bytes = Buffer.from(linesOf(header, userEntry("a", null, "Grüße")));
    bytes[bytes.indexOf("ü")] = 0xff;
    const read = readText(bytes);
    expect(read.problems).toEqual([{ kind: "bad_utf8", line: 2 }]);
    expect(JSON.stringify(read.entries[0])).toContain("Gr\ufffd");
  });

  it("is reported the same way however the bytes are split", () => {
    const torn = Buffer.from(line(userEntry("d", "c", "Grüße")));
    torn[torn.indexOf("ü")] = 0xff;
    const theirs = '{"type":"their_own","id":"f","parentId":"c","timestamp":"t","n":1.0}';
    const lines = [
      line(a),
      `${line(b)}\r`,
      "",
      "rubbish",
      line(a) + line(c),
      torn,
      theirs,
      line(header),
      "[".repeat(500),
    ];
    const pieces = fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 400 }), fc.boolean(), (found, size, isTorn) => {
        const ends = found.map((piece) => Buffer.concat([Buffer.from(piece), Buffer.from("\n")]));
        const bytes = Buffer.concat([Buffer.from(linesOf(header)), ...ends]).subarray(0, isTorn ? -2 : undefined);
        const reader = new SessionReader("x");
        for (let start = 0; start < bytes.length; start += size) reader.push(bytes.subarray(start, start + size));
        expect(reader.end()).toEqual(readText(bytes));
      }),
    );
  });

  it("whatever stands between the lines, each sound entry is there, in its place", () => {
    const rubbish = fc.constantFrom(
      ...'|\r|{}|nothing|{"type":"mess|é\u2028|\u0000|[]'.split("|"),
      line({ ...b, parentId: "gone" }),
      line({ type: "theirs", id: "t", parentId: "a", timestamp: "now" }),
      line(a) + line(b),
      line({ ...b, message: { role: "user", content: 1e300 } }),
    );
    const added = fc.array(fc.tuple(fc.nat(40), rubbish), { maxLength: 3 });
    fc.assert(
      fc.property(entryLists, added, (entries, extra) => {
        const lines = entries.map(line);
        for (const [place, text] of extra) lines.splice(place % (lines.length + 1), 0, text);
        const read = readText(`${[line(header), ...lines].join("\n")}\n`);
        expect(read.entries.filter(({ id }) => id.startsWith("e"))).toEqual(entries);
        expectTree(read.entries);
      }),
      { numRuns: runs(300) },
    );
  });

  it("any byte of a file may be another: each line that still is an object is read, in order", () => {
    const call = { type: "toolCall", id: "t", name: "read", arguments: { path: 'a\\"b', lines: [1, 2.5e-7] } };
    const reply = { role: "assistant", content: [call], timestamp: 2 } as unknown as AgentMessage;
    const file = Buffer.from(linesOf(header, userEntry("a", null, 'o\\n"é'), messageEntry("b", "a", reply), c));
    const start = Buffer.byteLength(linesOf(header));
    const bytes = fc.constantFrom(...Buffer.from('{}[]",:\\ \t\r\n\u0000aé0-'));
    fc.assert(
      fc.property(fc.integer({ min: start, max: file.length - 1 }), bytes, (at, byte) => {
        const changed = Buffer.from(file);
        changed[at] = byte;
        const read = readText(changed);
        const found = read.entries.map((entry) => line({ ...entry, id: "", parentId: "", timestamp: "" }));
        for (const text of changed.subarray(start).toString().split("\n")) {
          const value = parseObject(text);
          if (typeof value?.type !== "string") continue;
          const index = found.indexOf(line({ ...value, id: "", parentId: "", timestamp: "" }));
          expect(index, text).not.toBe(-1);
          found.splice(0, index + 1);
        }
        expectTree(read.entries);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("passes a second header over", () => {
    const read = readText(linesOf(header, a, { ...header, id: "other" }, b));
    expect(ids(read.entries)).toEqual(["a", "b"]);
    expect(read.header.id).toBe(header.id);
    expect(read.problems).toEqual([{ kind: "extra_header", line: 3 }]);
  });

  it("refuses nesting that would bring a reader down", () => {
    const deep = `{"type":"custom","id":"x","parentId":null,"timestamp":"","data":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    expect(readText(`${line(header)}\n${deep}\n${line(a)}\n`)).toMatchObject({ entries: [a], problemCount: 1 });
  });

  it("is quick about a long line of nothing but openings", () => {
    const hostile = '{"type":'.repeat(500_000);
    const read = readText(`${line(header)}\n${hostile}\n${line(a)}\n`);
    expect(ids(read.entries)).toEqual(["a"]);
  });

  it("skips a line of any length in constant memory (S-6, S-7)", () => {
    const reader = new SessionReader("x");
    reader.push(Buffer.from(linesOf(header, a)));
    const piece = Buffer.alloc(1024 * 1024, "x");
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 256; index++) reader.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * maxLineBytes);
    reader.push(Buffer.from(`\n${line(b)}\n`));
    const read = reader.end();
    expect(ids(read.entries)).toEqual(["a", "b"]);
    expect(read.problems).toEqual([{ kind: "oversized", line: 3 }]);
  });

  it("takes a line of just the cap and not one byte more", () => {
    const taken: (number | undefined)[] = [];
    const reader = new LineSplitter(10);
    reader.push(Buffer.from("0123456789\n0123456789x\n01"), ({ text }) => taken.push(text?.length));
    reader.push(Buffer.from("23456789\n01234567"), ({ text }) => taken.push(text?.length));
    reader.push(Buffer.from("89x\n"), ({ text }) => taken.push(text?.length));
    expect(taken).toEqual([10, undefined, 10, undefined]);
  });

  it("keeps the first problems and counts them all", () => {
    const read = readText(`${line(header)}\n${"bad\n".repeat(5000)}${line(a)}\n`);
    expect(read.problems).toHaveLength(100);
    expect(read.problemCount).toBe(5000);
    expect(read.entries).toEqual([a]);
  });
});

describe("the end of the file", () => {
  it("a torn last line is told apart, and is no problem of the rest", () => {
    const torn = line(b).slice(0, 25);
    const read = readText(linesOf(header, a) + torn);
    expect(read).toMatchObject({ entries: [a], problems: [], tail: { bytes: 25, isWhole: false } });
  });

  it("a whole last line that only lacks its LF is read", () => {
    const read = readText(linesOf(header, a) + line(b));
    expect(read).toMatchObject({ entries: [a, b], tail: { bytes: line(b).length, isWhole: true } });
  });

  it("any cut of a file behind its header opens, and every line before the cut is there", () => {
    const text = Buffer.from(linesOf(header, a, b, c));
    const headerBytes = Buffer.byteLength(linesOf(header));
    const ends = [a, b, c].map((_, index) => Buffer.byteLength(linesOf(header, ...[a, b, c].slice(0, index + 1))));
    for (let cut = headerBytes; cut <= text.length; cut++) {
      const whole = ends.filter((end) => end - 1 <= cut).length;
      expect(ids(readText(text.subarray(0, cut)).entries)).toEqual(["a", "b", "c"].slice(0, whole));
    }
  });
});

describe("ids and parents", () => {
  it("a missing parent is the entry before, and the history stays", () => {
    const read = readText(linesOf(header, a, b, { ...c, parentId: "gone" }));
    expect(places(read.entries).at(-1)).toEqual(["c", "b"]);
    expect(read.problems).toEqual([{ kind: "missing_parent", line: 4 }]);
  });

  it("a parent that is no id counts as missing; the first entry becomes a root", () => {
    const read = readText(linesOf(header, { ...a, parentId: 7 }, { ...b, parentId: undefined }));
    expect(places(read.entries)).toEqual([
      ["a", null],
      ["b", "a"],
    ]);
  });

  it("an id used twice: the first keeps it, what follows goes on from the later one", () => {
    const read = readText(linesOf(header, a, b, { ...c, id: "b" }, userEntry("d", "b")));
    expect(places(read.entries)).toEqual([
      ["a", null],
      ["b", "a"],
      ["b-2", "b"],
      ["d", "b-2"],
    ]);
    expect(read.problems).toEqual([{ kind: "duplicate_id", line: 4 }]);
  });

  it("a repaired link holds at the next load", () => {
    const first = readText(linesOf(header, a, { ...b, id: "a" }, userEntry("x", null)));
    expect(ids(first.entries)).toEqual(["a", "a-2", "x"]);
    const second = readText(linesOf(header, a, { ...b, id: "a" }, userEntry("x", null), userEntry("y", "a-2")));
    expect(places(second.entries).at(-1)).toEqual(["y", "a-2"]);
    expect(second.problemCount).toBe(1);
  });

  it("entries without an id get one", () => {
    const { id: _, ...nameless } = b as SessionEntry & { id?: string };
    const read = readText(linesOf(header, a, { ...nameless, parentId: "a" }));
    expect(places(read.entries)).toEqual([
      ["a", null],
      ["00000002", "a"],
    ]);
    expect(read.problems).toEqual([{ kind: "no_id", line: 3 }]);
  });

  it("a parent on a later line is fine, as long as there is a way to a root", () => {
    const read = readText(linesOf(header, b, a));
    expect(places(read.entries)).toEqual([
      ["b", "a"],
      ["a", null],
    ]);
    expect(read.problemCount).toBe(0);
  });

  it.each([
    ["to itself", [userEntry("a", "a")]],
    ["of two", [userEntry("a", "b"), userEntry("b", "a")]],
    ["behind a missing parent", [userEntry("x", "y"), userEntry("z", "lost"), userEntry("y", "z")]],
  ])("a circle %s is opened", (_name, entries) => {
    const read = readText(linesOf(header, ...entries));
    expect(read.entries).toHaveLength(entries.length);
    expect(read.problems.some(({ kind }) => kind === "cycle")).toBe(true);
    expectTree(read.entries);
  });

  it("any links at all end up as a tree with every entry in it", () => {
    const link = fc.record({
      id: fc.constantFrom("a", "b", "c", "d", ""),
      parentId: fc.constantFrom("a", "b", "c", "d", "e", null),
    });
    fc.assert(
      fc.property(fc.array(link, { maxLength: 12 }), (links) => {
        const entries = links.map(({ id, parentId }) => ({ ...a, id, parentId }));
        const read = readText(linesOf(header, ...entries));
        expect(read.entries).toHaveLength(links.length);
        expectTree(read.entries);
      }),
    );
  });

  it("a hundred thousand entries with one id are renumbered in no time", () => {
    const read = readText(
      linesOf(
        header,
        ...Array.from({ length: 100_000 }, () => ({ type: "custom", id: "a", parentId: "a", timestamp: "" })),
      ),
    );
    expect(new Set(ids(read.entries)).size).toBe(100_000);
  });
});

describe("entries of other programs", () => {
  const foreign =
    '{"type":"their_own","id":"f","parentId":"a","timestamp":"t","n":1.0,"big":12345678901234567890,"s":"\\u00e9"}';

  it("are kept to the byte", () => {
    const read = readText(`${line(header)}\n${line(a)}\n${foreign}\n`);
    const [, entry] = read.entries;
    expect(entry && read.originals.get(entry)).toBe(foreign);
    expect(read.originals.size).toBe(1);
  });

  it("of our types are kept to the byte when we would word them otherwise", () => {
    const theirs = [
      '{"type":"message","id":"m","parentId":"a","timestamp":"t","x":1234567890123456789,"message":{"role":"user","content":"x"}}',
      '{"type":"custom","id":"d","parentId":"m","timestamp":"t","customType":"c","data":{"n":[{"deep":-9007199254740993}]}}',
      '{"type":"custom","id":"n","parentId":"d","timestamp":1760000000000,"customType":"c"}',
    ];
    const ours =
      '{"type":"custom","id":"o","parentId":"n","timestamp":"t","customType":"c","data":[1760000000000000000,1.5]}';
    const read = readText(`${line(header)}\n${line(a)}\n${theirs.join("\n")}\n${ours}\n`);
    expect(read.problemCount).toBe(0);
    expect([...read.originals.values()]).toEqual(theirs);
    expect(read.entries.map((entry) => read.originals.get(entry))).toEqual([undefined, ...theirs, undefined]);
  });

  it("lose their exact text only when they got another place", () => {
    const read = readText(`${line(header)}\n${foreign}\n`);
    expect(read.originals.size).toBe(0);
    expect(read.entries[0]).toMatchObject({ type: "their_own", parentId: null });
  });

  it("with members that would be a trap stay harmless", () => {
    const trap =
      '{"type":"message","id":"p","parentId":null,"timestamp":"t","__proto__":{"polluted":true},"message":{"role":"user","content":"x"}}';
    const read = readText(`${line({ ...header, version: 1 })}\n${trap}\n`);
    expect(read.entries[0]?.id).toBe("p");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it("a message keeps its meaning whatever it says about lines", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (content) => {
      const entry = messageEntry("a", null, { role: "user", content, timestamp: 1 });
      expect(readText(linesOf(header, entry)).entries).toEqual([entry]);
    }),
  );
});

function expectTree(entries: readonly SessionEntry[]): void {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  expect(byId.size).toBe(entries.length);
  for (const entry of entries) {
    let steps = 0;
    for (let parent: string | null = entry.parentId; parent !== null; parent = byId.get(parent)?.parentId ?? null) {
      expect(byId.has(parent)).toBe(true);
      expect(++steps).toBeLessThanOrEqual(entries.length);
    }
  }
}
