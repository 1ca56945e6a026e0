import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { checkMessage } from "./check-message.js";
import { maxLineBytes } from "./read/parse-line.js";
import { entryLists, header, linesOf, messageEntry, readText } from "./store/store.test-kit.js";
import { cutNotice, imageUnavailable, plainLine, storedLine } from "./stored-form.js";

const bytes = Buffer.alloc(3000, 7);
const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
const user = (...content: object[]) =>
  messageEntry("a", null, { role: "user", content: content as never, timestamp: 1 });
const result = (details: unknown) =>
  messageEntry("a", null, {
    role: "toolResult",
    toolCallId: "1",
    toolName: "x",
    content: [],
    details,
    isError: false,
    timestamp: 1,
  });

function sinks({ isBroken = false } = {}) {
  const images: Buffer[] = [];
  const texts: string[] = [];
  return {
    images,
    texts,
    saveImage: async (image: Buffer) => (isBroken ? undefined : `blob:sha256:${images.push(image)}`),
    saveText: async (text: string) => (isBroken ? undefined : `${texts.push(text)}`),
  };
}

/** What a reader makes of the line. */
async function stored(entry: SessionEntry, kept = sinks()) {
  expect(plainLine(entry) === undefined).toBe(true);
  const line = await storedLine(entry, kept);
  expect(line.length).toBeLessThanOrEqual(maxLineBytes);
  const read = readText(Buffer.concat([Buffer.from(linesOf(header)), line]));
  expect(read.problemCount).toBe(0);
  const [found] = read.entries;
  return { ...kept, entry: found as SessionEntry & { artifactId?: string; artifactIds?: string[] }, line };
}

describe("a plain entry", () => {
  it("is its JSON and an LF, with line separators escaped (S-8)", () => {
    const entry = user({ type: "text", text: "one\u2028two\u2029three\nfour" });
    const line = plainLine(entry)?.toString() ?? "";
    expect(line).toContain("one\\u2028two\\u2029three\\nfour");
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(JSON.parse(line)).toEqual(entry);
  });

  it("covers every random entry, and reads back as it was", () => {
    fc.assert(
      fc.property(entryLists, (entries) => {
        for (const entry of entries) expect(JSON.parse(plainLine(entry)?.toString() ?? "")).toEqual(entry);
      }),
    );
  });

  it("may hold a small image, a reference, and dates and gaps as JSON writes them", () => {
    expect(plainLine(user(image("A".repeat(1023))))).toBeDefined();
    expect(plainLine(user(image(`blob:sha256:${"0".repeat(2000)}`)))).toBeDefined();
    expect(plainLine(result({ gap: undefined, list: [undefined] }))).toBeDefined();
  });
});

describe("images", () => {
  it("from 1024 characters on become blobs, and the entry itself stays whole", async () => {
    const entry = user(image(bytes.toString("base64")));
    const before = structuredClone(entry);
    const { images, entry: found } = await stored(entry);
    expect(images).toEqual([bytes]);
    expect(found).toMatchObject({ message: { content: [image("blob:sha256:1")] } });
    expect(entry).toEqual(before);
  });

  it("are found wherever they are", async () => {
    const file = { path: "a.png", content: "", image: image(bytes.toString("base64")) };
    const mention = messageEntry("a", null, { role: "fileMention", files: [file], timestamp: 1 });
    expect((await stored(mention)).images).toEqual([bytes]);
    expect((await stored(result({ deep: [{ shot: image(bytes.toString("base64")) }] }))).images).toEqual([bytes]);
  });

  it("in another alphabet, wrapped or without padding are understood", async () => {
    const odd = Buffer.alloc(2000, 0xfb);
    for (const text of [odd.toString("base64url"), odd.toString("base64").replace(/(.{76})/g, "$1\n")])
      expect((await stored(user(image(text)))).images).toEqual([odd]);
  });

  it("stay in the line when no blob can be made, if they fit", async () => {
    const data = bytes.toString("base64");
    const { entry } = await stored(user(image(data)), sinks({ isBroken: true }));
    expect(entry).toMatchObject({ message: { content: [image(data)] } });
  });

  it("become a word when they neither fit nor can be put aside", async () => {
    const data = Buffer.alloc(2_000_000, 7).toString("base64");
    const { entry } = await stored(user(image(data)), sinks({ isBroken: true }));
    expect(entry).toMatchObject({ message: { content: [{ type: "text", text: imageUnavailable }] } });
  });

  it("that are none are kept as they are, or put aside as a text", async () => {
    const short = image(`${"not base64! ".repeat(200)}`);
    expect((await stored(user(short))).entry).toMatchObject({ message: { content: [short] } });
    const long = image("not base64! ".repeat(200_000));
    const { texts, entry } = await stored(user(long));
    expect(texts).toEqual([long.data]);
    expect(entry).toMatchObject({ artifactId: "1", message: { content: [{ type: "text", text: imageUnavailable }] } });
  });

  it("that are padding for a megabyte take no time in proportion to its square", async () => {
    const padding = image(`${"=".repeat(1_000_000)}x`);
    expect((await stored(user(padding))).entry).toMatchObject({ message: { content: [padding] } });
  });
});

describe("long texts", () => {
  it("over 500,000 characters are cut in the line, and whole in an artifact", async () => {
    const text = "x".repeat(500_001);
    const { texts, entry } = await stored(user({ type: "text", text }));
    expect(texts).toEqual([text]);
    expect(entry.artifactId).toBe("1");
    expect(entry.artifactIds).toBeUndefined();
    const [block] = (entry as { message: { content: { text: string }[] } }).message.content;
    expect(block?.text).toHaveLength(500_000);
    expect(block?.text.endsWith(`x\n\n${cutNotice}`)).toBe(true);
    expect(plainLine(user({ type: "text", text: text.slice(1) }))).toBeDefined();
  });

  it("are never cut inside a character", async () => {
    for (const shift of ["", "y"]) {
      const { line } = await stored(user({ type: "text", text: shift + "😀".repeat(300_000) }));
      expect(line.toString()).not.toContain("\\ud83d");
    }
  });

  it("each get an artifact of their own", async () => {
    const [first, second] = ["x".repeat(600_000), "y".repeat(600_000)];
    const { texts, entry } = await stored(user({ type: "text", text: first }, { type: "text", text: second }));
    expect(texts).toEqual([first, second]);
    expect(entry).toMatchObject({ artifactId: "1", artifactIds: ["1", "2"] });
  });

  it("are cut also when there is no artifact to be had", async () => {
    const { entry, line } = await stored(user({ type: "text", text: "x".repeat(600_000) }), sinks({ isBroken: true }));
    expect(entry.artifactId).toBeUndefined();
    expect(line.toString()).toContain(cutNotice);
  });

  it("signatures are dropped whole, and with the text they vouch for", async () => {
    const long = "s".repeat(500_001);
    const block = { type: "thinking", thinking: "short", thinkingSignature: long };
    const kept = { type: "thinking", thinking: long, thinkingSignature: "sig" };
    const lost = { type: "redactedThinking", data: long };
    const { entry } = await stored(
      messageEntry("a", null, { role: "assistant", content: [block, kept, lost] } as never),
    );
    const { content } = (entry as { message: { content: object[] } }).message;
    expect(content[0]).toEqual({ type: "thinking", thinking: "short" });
    expect(content[1]).not.toHaveProperty("thinkingSignature");
    expect(content).toHaveLength(2);
  });
});

it("drops the marks of a reply under way, but not a model's argument of that name", async () => {
  const call = { type: "toolCall", id: "1", name: "x", arguments: { partialJson: "mine" }, partialJson: "{" };
  const { entry } = await stored(
    messageEntry("a", null, { role: "assistant", content: [call], jsonlEvents: [1] } as never),
  );
  expect(entry).toMatchObject({
    message: { content: [{ type: "toolCall", id: "1", name: "x", arguments: { partialJson: "mine" } }] },
  });
  expect(JSON.stringify(entry)).not.toContain("jsonlEvents");
});

it("an image among a call's arguments is the model's own text, and stays as it is", async () => {
  const call = { type: "toolCall", id: "1", name: "x", arguments: { picture: image(bytes.toString("base64")) } };
  const { entry, images } = await stored(messageEntry("a", null, { role: "assistant", content: [call] } as never));
  expect(entry).toMatchObject({ message: { content: [call] } });
  expect(images).toEqual([]);
});

describe("a line never passes the cap, and is always read back (S-6)", () => {
  it("many long texts", async () => {
    const content = Array.from({ length: 40 }, (_, index) => ({ type: "text", text: `${index}`.repeat(200_000) }));
    const { texts, entry } = await stored(user(...content));
    expect(texts).toHaveLength(40);
    expect(texts[39]).toBe(content[39]?.text);
    expect((entry as { message: { content: unknown[] } }).message.content).toHaveLength(40);
  });

  it("a great many small things", async () => {
    const details = Array.from({ length: 90_000 }, (_, index) => ({ index, text: "small".repeat(18) }));
    const { texts, entry } = await stored(result(details));
    expect(texts[0] === JSON.stringify(details)).toBe(true);
    expect(entry).toMatchObject({ artifactId: "1", message: { role: "toolResult", details: cutNotice } });
  });

  it("content that had to go altogether still makes a message", async () => {
    const content = Array.from({ length: 200_000 }, () => ({
      type: "text",
      text: "four words of text here, and then some",
    }));
    const { entry } = await stored(messageEntry("a", null, { role: "assistant", content } as never));
    const message = checkMessage((entry as { message: unknown }).message, 1) as AgentMessage & { role: "assistant" };
    expect(message.content).toEqual([{ type: "text", text: cutNotice }]);
  });

  it("an entry that is nothing but too much", async () => {
    const members = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`m${index}`, "x".repeat(4990)]));
    const entry: SessionEntry = {
      type: "custom",
      customType: "x",
      id: "a",
      parentId: null,
      timestamp: "t",
      ...members,
    };
    const { entry: found, texts } = await stored(entry);
    const { type, id, parentId, timestamp } = entry;
    expect(found).toEqual({ type, id, parentId, timestamp, notice: cutNotice, artifactId: "1" });
    expect(texts[0] === JSON.stringify(entry)).toBe(true);
  });

  it("the data of an extension", async () => {
    const data = Array.from({ length: 90_000 }, () => "small".repeat(20));
    const { entry, texts } = await stored({
      type: "custom",
      customType: "x",
      id: "a",
      parentId: null,
      timestamp: "t",
      data,
    });
    expect(entry).toMatchObject({ customType: "x", data: cutNotice, artifactId: "1" });
    expect(texts[0] === JSON.stringify(data)).toBe(true);
  });

  it.each([
    ["deeper than a reader goes", () => deep(500)],
    ["deeper than JSON goes", () => deep(50_000)],
    ["a circle", circle],
    ["a large integer", () => ({ big: 12345678901234567890n })],
    [
      "a member that throws",
      () => ({
        get secret(): string {
          throw new Error("no");
        },
      }),
    ],
    ["an object with its own idea of JSON", () => ({ toJSON: () => ({ text: "x".repeat(600_000) }) })],
  ])("%s", async (_name, details) => {
    const { entry } = await stored(result(details()));
    expect(entry).toMatchObject({ type: "message", id: "a", message: { role: "toolResult", toolCallId: "1" } });
  });
});

function deep(levels: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function circle(): unknown {
  const value: Record<string, unknown> = { name: "round" };
  value.self = value;
  return value;
}
