import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import type { ToolResult } from "../protocol/events.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { drawPng } from "./images/png.test-kit.js";
import { createRead } from "./read.js";
import { SeenFiles } from "./seen-files.js";

type Files = Parameters<typeof createMemoryWorkspace>[0];
const day = 86_400_000;
const clock = { now: () => 1000 * day, after: () => () => {} };

async function read(
  files: Files,
  args: Record<string, unknown>,
  { modifiedMs = 0, autoResize = true } = {},
): Promise<ToolResult> {
  const tool = createRead(createMemoryWorkspace(files, { modifiedMs }), { clock, autoResize });
  const prepared = tool.prepareArguments?.(args) as { path: string };
  return tool.execute("call_1", prepared, undefined, () => {}, { cwd: "/project" });
}

const text = (value: string, meta = {}) => ({ content: [{ type: "text", text: value }], details: { meta } });

describe("text", () => {
  it("gives the text and what was left out, in one bracket", async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `${index + 1}`);
    expect(await read({ "a.txt": "one\ntwo\n" }, { path: "a.txt" })).toEqual(text("one\ntwo"));
    const result = await read({ "a.txt": lines.join("\n") }, { path: "a.txt" });
    expect(result).toMatchObject({
      content: [
        { text: `${lines.slice(0, 300).join("\n")}\n\n[Showing lines 1-300 of 400. Use sel=L301 to continue]` },
      ],
      details: { meta: { truncation: { totalLines: 400, nextOffset: 301 } } },
    });
  });

  it.each([
    [{ path: "a", sel: "L2-L3" }, "2\n3"],
    [{ file_path: "a", offset: 2, limit: 2 }, "2\n3"],
    [{ path: "a", offset: "4" }, "4\n5"],
    [{ path: "a", limit: 2 }, "1\n2"],
    [{ path: "a", sel: "L5", offset: 1 }, "5"],
    [{ path: "a", limit: 0 }, "1\n2\n3\n4\n5"],
    [{ path: "a", offset: null, limit: "many" }, "1\n2\n3\n4\n5"],
  ])("takes %j", async (args, expected) => {
    expect(await read({ a: "1\n2\n3\n4\n5\n" }, args)).toEqual(text(expected));
  });

  it("answers offset 0 like L0", async () => {
    await expect(read({ a: "1" }, { path: "a", offset: 0 })).rejects.toThrow(
      "L0 is invalid; lines are 1-indexed. Use sel=L1.",
    );
  });

  it("removes terminal escapes and says so", async () => {
    expect(await read({ a: "\u001b[31mred\u001b[0m\n" }, { path: "a" })).toEqual(
      text("red\n\n[Terminal escape sequences were removed]"),
    );
  });

  it("shows an empty file, also from line 1", async () => {
    const expected = { ...text("(empty file)"), isWarning: true };
    expect(await read({ a: "" }, { path: "a" })).toEqual(expected);
    expect(await read({ a: "" }, { path: "a", offset: 1, limit: 10 })).toEqual(expected);
  });

  it("reads past the first 8 KB", async () => {
    const long = "line of text\n".repeat(2000);
    const { content } = await read({ a: long }, { path: "a", sel: "L1999" });
    expect(content).toEqual([{ type: "text", text: "line of text\nline of text" }]);
  });
});

describe("what is no text", () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0);
  const webp = new TextEncoder().encode("RIFF0000WEBPVP8 ");
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0);
  const gif = new TextEncoder().encode("GIF89a\0");

  it.each([
    ["image/png", png],
    ["image/webp", webp],
    ["image/jpeg", jpeg],
    ["image/gif", gif],
  ])("gives %s by its first bytes, whatever the name", async (mimeType, bytes) => {
    expect(await read({ "odd.txt": bytes }, { path: "odd.txt" })).toEqual({
      content: [
        {
          type: "text",
          text: `Image odd.txt (${mimeType}, ${bytes.length} bytes), as it is on disk: not resized.`,
        },
        { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType },
      ],
      details: { meta: {} },
    });
  });

  it("shows a large PNG smaller, unless the user wants it as it is", async () => {
    const large = drawPng({ width: 4000, height: 8, colourType: 0, at: () => [7] });
    const named = `Image a.png (image/png, ${large.length} bytes, 4000x8)`;
    const { content } = await read({ "a.png": large }, { path: "a.png" });
    expect(content[0]).toEqual({ type: "text", text: `${named}, shown resized to 2000x4.` });
    const image = content[1];
    if (image?.type !== "image") throw new Error("no image");
    const shown = Buffer.from(image.data, "base64");
    expect([shown.readUInt32BE(16), shown.readUInt32BE(20)]).toEqual([2000, 4]);
    expect((await read({ "a.png": large }, { path: "a.png" }, { autoResize: false })).content).toEqual([
      { type: "text", text: `${named}, as it is on disk: not resized.` },
      { type: "image", data: large.toString("base64"), mimeType: "image/png" },
    ]);
  });

  it("refuses an image that no service takes and that we cannot make smaller", async () => {
    const wide = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([0x41, 0x1f, 1, 0])]); // 8001x1
    await expect(read({ "a.gif": wide }, { path: "a.gif" })).rejects.toThrow(
      "Image a.gif (image/gif, 10 bytes, 8001x1) is too large to be looked at: at most 8000 pixels on a side. " +
        "Make it smaller first.",
    );
    expect((await read({ "a.gif": wide }, { path: "a.gif" }, { autoResize: false })).content).toHaveLength(2);
  });

  it("refuses an image over 20 MB", async () => {
    const large = new Uint8Array(25 * 1024 * 1024);
    large.set(png);
    await expect(read({ "big.png": large }, { path: "big.png" })).rejects.toThrow(
      "Image file too large: 25MB exceeds 20MB limit.",
    );
  });

  it("names a binary file and its size", async () => {
    const note = { ...text("a.bin is a binary file (2KB); its content is not shown."), isWarning: true };
    expect(await read({ "a.bin": new Uint8Array(2048) }, { path: "a.bin" })).toEqual(note);
    expect(await read({ "a.bin": new Uint8Array(2048).fill(0xfe) }, { path: "a.bin" })).toEqual(note);
  });

  it("looks at a 100 MB sparse file and does not read it", async () => {
    const cwd = temporaryDirectory();
    const file = await open(join(cwd, "sparse"), "w");
    await file.truncate(100 * 1024 * 1024);
    await file.close();
    const tool = createRead(createNodeWorkspace({ cwd }));
    const result = await tool.execute("call_1", { path: "sparse" }, undefined, () => {}, { cwd });
    expect(result.content).toEqual([
      { type: "text", text: "sparse is a binary file (100MB); its content is not shown." },
    ]);
  });
});

describe("directories", () => {
  it("lists entries with their age, sorted without regard to case", async () => {
    const listing = await read({ "b.ts": "", "A/x": "", "c\nd": "" }, { path: "." }, { modifiedMs: 997 * day });
    expect(listing).toEqual(text("A/ (3d ago)\nb.ts (3d ago)\nc\\nd (3d ago)"));
  });

  it.each([
    [0, "just now"],
    [59 * 60_000, "59m ago"],
    [23 * 3_600_000, "23h ago"],
    [59 * day, "59d ago"],
    [90 * day, "3mo ago"],
    [800 * day, "2y ago"],
    [-day, "just now"],
  ])("says %d ms as %s", async (ageMs, expected) => {
    expect(await read({ "d/a": "" }, { path: "d" }, { modifiedMs: 1000 * day - ageMs })).toEqual(
      text(`a (${expected})`),
    );
  });

  it("says when one is empty", async () => {
    expect(await read({ "d/": "" }, { path: "d" })).toEqual({ ...text("(empty directory)"), isWarning: true });
  });

  it("shows 500 entries at most", async () => {
    const files = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${1000 + index}`, ""]));
    const result = await read(files, { path: "." }, { modifiedMs: 1000 * day });
    const shown = (result.content[0] as { text: string }).text.split("\n");
    expect(shown).toHaveLength(502);
    expect(shown.at(-1)).toBe("[500 results limit reached; the directory has 501 entries]");
    expect(result.details).toEqual({ meta: { limits: { resultLimit: 500 } } });
  });
});

describe("failures", () => {
  it.each([
    ["src/ap.ts", "Path 'src/ap.ts' not found. Close names: src/api.ts, src/app.ts"],
    ["src/API.ts", "Path 'src/API.ts' not found. Close names: src/api.ts, src/app.ts"],
    ["src/zebra.ts", "Path 'src/zebra.ts' not found"],
    ["nowhere/a.ts", "Path 'nowhere/a.ts' not found"],
  ])("%s", async (path, message) => {
    const files = { "src/api.ts": "", "src/app.ts": "", "src/other.css": "" };
    await expect(read(files, { path })).rejects.toMatchObject({ code: "not_found", message });
  });

  it("says so for a URL", async () => {
    await expect(read({}, { path: "https://example.com" })).rejects.toThrow(
      "Reading URLs is not available in this version.",
    );
  });

  it("checks the selection before it touches the disk", async () => {
    await expect(read({}, { path: "nope", sel: "L5-L3" })).rejects.toThrow("Invalid range L5-L3");
  });
});

describe("what was seen", () => {
  const png = "\u0089PNG\r\n\u001a\n";
  const files = { "a.txt": "1\n2\n", empty: "", "a.png": Buffer.from(png, "latin1"), "a.bin": "\0", "dir/a.txt": "" };
  const hasNoted = async (path: string, sel?: string) => {
    const seen = new SeenFiles();
    const tool = createRead(createMemoryWorkspace(files), { clock, seen });
    const params = sel === undefined ? { path } : { path, sel };
    await tool.execute("call_1", params, undefined, () => {}, { cwd: "/project" }).catch(() => undefined);
    return seen.hasChanged(`/project/${path}`, Buffer.from("something else"));
  };

  it("is every file whose content was shown, also a part of it", async () => {
    expect(
      await Promise.all([hasNoted("a.txt"), hasNoted("a.txt", "L2"), hasNoted("empty"), hasNoted("a.png")]),
    ).toEqual([true, true, true, true]);
  });

  it("is not what was only named", async () => {
    expect(await Promise.all([hasNoted("a.txt", "L9"), hasNoted("a.bin"), hasNoted("dir"), hasNoted("none")])).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
