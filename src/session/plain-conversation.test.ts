import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { buildContext } from "./build-context.js";
import { EntryTree } from "./entry-tree.js";
import { findPlainConversation } from "./plain-conversation.js";
import { entryLists, header, linesOf, messageEntry, readText, userEntry } from "./store.test-kit.js";

const asWritten = (file: string | Uint8Array): unknown => {
  const bytes = Buffer.from(file as string);
  const plain = findPlainConversation(bytes);
  if (!plain) return undefined;
  const linked = plain.entries();
  const { entries, indexById, originals, problemCount } = readText(file);
  // What they make of the entries is what reading makes of them.
  if (linked) expect(linked).toEqual({ entries, indexById });
  if (linked) expect({ problemCount, originals: originals.size }).toEqual({ problemCount: 0, originals: 0 });
  return JSON.parse([...plain.messages()].join(""));
};

/** What a host is told when the entries are read. */
function asRead(file: string | Uint8Array): readonly AgentMessage[] {
  const { header: found, entries } = readText(file);
  return JSON.parse(JSON.stringify(buildContext(new EntryTree(found, entries).pathTo()).messages));
}

const usage = { input: 10, output: 0.5, cacheRead: 0, cacheWrite: 1e-7, totalTokens: 15 };
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const answer = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "openai-completions",
  provider: "acme",
  model: 'a "model"',
  usage: { ...usage, cost },
  stopReason: "stop",
  timestamp: 2,
});

/** Questions and answers, each behind the one before. */
function conversation(texts: readonly string[]): SessionEntry[] {
  return texts.map((text, index) => {
    const parentId = index === 0 ? null : `e${index - 1}`;
    return index % 2 === 0 ? userEntry(`e${index}`, parentId, text) : messageEntry(`e${index}`, parentId, answer(text));
  });
}

const written = (entries: readonly SessionEntry[]) => linesOf(header, ...entries);

describe("a conversation that runs straight on", () => {
  it("is told word for word, whatever is said in it", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 12 }), (texts) => {
        const file = written(conversation(texts.map((text) => text.replace(/[\u0085\u2028\u2029]/g, ""))));
        const messages = asWritten(file);
        expect(messages).toEqual(asRead(file));
      }),
    );
  });

  it("is told in pieces when it is long, also where characters take several bytes", () => {
    for (const letter of ["a", "ä", "𝄞"]) {
      const file = written(conversation(Array.from({ length: 300 }, (_, index) => `${index} ${letter.repeat(700)}`)));
      expect([...(findPlainConversation(Buffer.from(file))?.messages() ?? [])].length).toBeGreaterThan(3);
      expect(asWritten(file)).toEqual(asRead(file));
    }
  });

  it("may have settings, names and tool calls between its messages, and lines longer than any block", () => {
    const call = { ...answer(""), content: [{ type: "toolCall", id: "t", name: "read", arguments: { path: "a" } }] };
    const result = { role: "toolResult", toolCallId: "t", toolName: "read", content: [], isError: false, timestamp: 3 };
    const place = { timestamp: "2026-01-05T08:00:00.000Z" };
    const file = written([
      { type: "model_change", id: "m", parentId: null, ...place, model: "acme/fable" },
      userEntry("a", "m"),
      { type: "session_info", id: "n", parentId: "a", ...place, name: "A name" },
      messageEntry("b", "a", call as AgentMessage),
      messageEntry("c", "b", result as unknown as AgentMessage),
      userEntry("d", "c", "x".repeat(200_000)),
    ]);
    expect(asWritten(file)).toEqual(asRead(file));
    expect(asWritten(file)).toHaveLength(4);
  });

  it("may have an id twice, which is for others to sort out", () => {
    const [first, second, third] = conversation(["one", "two", "three"]);
    const file = written([first, { ...second, id: "e0" }, { ...third, parentId: "e0" }] as SessionEntry[]);
    expect(findPlainConversation(Buffer.from(file))?.entries()).toBeUndefined();
    expect(asWritten(file)).toEqual(asRead(file));
  });

  it("may be empty", () => {
    expect(asWritten(written([]))).toEqual([]);
  });
});

describe("anything else is left to those who read the entries", () => {
  const [first, second, third] = conversation(["one", "two", "three"]) as [SessionEntry, SessionEntry, SessionEntry];
  const image = { type: "image", data: "blob:sha256:00", mimeType: "image/png" };
  it.each([
    ["a branch", written([first, second, { ...third, parentId: first.id }])],
    ["two roots", written([first, { ...second, parentId: null }])],
    [
      "a leaf that moved",
      written([first, second, { type: "leaf", id: "l", parentId: "e0", timestamp: "", targetId: "e0" }]),
    ],
    ["a summary", written([first, { ...second, type: "branch_summary", fromId: "e0", summary: "s" } as SessionEntry])],
    ["a torn line", `${written([first, second])}{"type":"message"`],
    ["a damaged line", written([first, second]).replace('"text":"two"', '"text":"two')],
    ["two lines in one", written([first, second]).replace("}\n{", "}{")],
    ["an empty line", written([first, second]).replace("}\n{", "}\n\n{")],
    ["a type of another program", written([first, { ...second, type: "other" } as unknown as SessionEntry])],
    [
      "a message to mend",
      written([first, { ...second, message: { role: "user", content: 7 } } as unknown as SessionEntry]),
    ],
    [
      "a picture that lies elsewhere",
      written([messageEntry("a", null, { role: "user", content: [image], timestamp: 1 } as AgentMessage)]),
    ],
    [
      "a number that is not kept to the digit",
      written([first]).replace('"timestamp":1}', '"timestamp":9007199254740993}'),
    ],
    ["a separator of lines that JSON allows", written(conversation(["a\u2028b"]))],
    ["bytes that are no text", Buffer.concat([Buffer.from(written([first])), Buffer.from([0xff, 0x0a])])],
    ["a second header", written([first]) + linesOf(header)],
  ])("%s", (_, file) => {
    expect(asWritten(file)).toBeUndefined();
  });

  it("and what is told is what they would read, for random trees", () => {
    let told = 0;
    fc.assert(
      fc.property(entryLists, (entries) => {
        const file = written(entries);
        const messages = asWritten(file);
        if (messages === undefined) return;
        told++;
        expect(messages).toEqual(asRead(file));
      }),
      { numRuns: 500 },
    );
    expect(told).toBeGreaterThan(0);
  });

  it("also where one byte of a file is another", () => {
    const file = written(conversation(["one", 't\\w"o', "three"]));
    const start = linesOf(header).length;
    const bytes = fc.constantFrom(...Buffer.from('{}[]",:\\ \t\r\n\u0000aé0-'));
    fc.assert(
      fc.property(fc.integer({ min: start, max: file.length - 1 }), bytes, (at, byte) => {
        const changed = Buffer.from(file);
        changed[at] = byte;
        const messages = asWritten(changed);
        if (messages !== undefined) expect(messages).toEqual(asRead(changed));
      }),
      { numRuns: 3000 },
    );
  });
});
