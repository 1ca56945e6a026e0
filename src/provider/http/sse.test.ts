import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSse, type SseOptions } from "./sse.js";

const idle = { waiting() {}, fed() {}, stop() {} };

async function* chunksOf(parts: Iterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? Buffer.from(part) : part;
}

async function read(parts: Iterable<string | Uint8Array>, limits: Partial<SseOptions> = {}): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of readSse(chunksOf(parts), { watchdog: idle, ...limits })) all.push(...batch);
  return all;
}

describe("readSse", () => {
  it("joins lines of data, skips comments and fields, and leaves [DONE] alone", async () => {
    const text = ": hello\n\nevent: x\nid: 1\nretry: 5\nodd: y\ndata: a\ndata:b\n\ndata: [DONE]\n\n";
    expect(await read([text])).toEqual(["a\nb", "[DONE]"]);
  });

  it("drops an event that never ended", async () => {
    expect(await read(["data: a\n\ndata: b"])).toEqual(["a"]);
  });

  it("gives the events of one chunk as one batch", async () => {
    const batches = readSse(chunksOf(["data: a\n\ndata: b\n\n"]), { watchdog: idle });
    expect((await batches.next()).value).toEqual(["a", "b"]);
  });

  it("reads the same whatever the line ends and wherever the bytes are cut", async () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n\0\ufeff]/g, ""));
    const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    const end = fc.constantFrom("\n", "\r\n", "\r");
    await fc.assert(
      fc.asyncProperty(events, end, fc.integer({ min: 1, max: 9 }), async (all, eol, size) => {
        // A last comment line: a lone CR at the very end could still be half a CRLF.
        const text = `${all.map((lines) => lines.map((data) => `data: ${data}${eol}`).join("") + eol).join("")}:${eol}`;
        const bytes = Buffer.from(text);
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        expect(await read(parts)).toEqual(all.map((lines) => lines.join("\n")));
      }),
      { numRuns: 200 },
    );
  });

  it("drops a byte order mark at the very beginning, cut up or not, and keeps it elsewhere", async () => {
    const mark = Buffer.from("\ufeff");
    expect(await read([mark, "data: a\n\n"])).toEqual(["a"]);
    expect(await read([mark.subarray(0, 1), new Uint8Array(), mark.subarray(1), "data: a\n\n"])).toEqual(["a"]);
    expect(await read(["data: a", mark, "\n\n"])).toEqual(["a\ufeff"]);
  });

  it("ends a line, an event or a reply that is too long, after giving what came before", async () => {
    const endless = (piece: string) => ["data: ok\n\n", ...Array.from({ length: 100 }, () => piece)];
    for (const piece of ["x".repeat(100), `data: ${"x".repeat(100)}\n`]) {
      const batches = readSse(chunksOf(endless(piece)), { watchdog: idle, maxEventCharacters: 1000 });
      expect((await batches.next()).value).toEqual(["ok"]);
      await expect(batches.next()).rejects.toThrow("An event of the reply is longer than 1000 characters.");
    }
    await expect(read(endless(": comment\n"), { maxBytes: 500 })).rejects.toThrow(
      "The reply is larger than 500 bytes.",
    );
  });
});
