// F-41: how a host's bytes are cut means nothing: every transcript tells the same story when they come in any two
// pieces, and when they come one by one. `npm run fault:rpc` plays every cut through the server; here the quick ones,
// and every cut through the reader of frames.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FrameReader } from "../../src/base/ndjson.js";
import { parseTranscript } from "../../src/testing/transcript.js";
import { play } from "../kit/play-transcript.js";

const folder = new URL("../transcripts/", import.meta.url);
const transcripts = readdirSync(folder).map((name) => {
  const text = readFileSync(new URL(name, folder), "utf8");
  const lines = parseTranscript(text).steps.filter(({ direction }) => direction === ">");
  return { name, text, lines: lines.map((step) => Buffer.from(`${step.text}\n`)) };
});
const isWhole = process.env.GALLEY_SPLITS === "all";
const cutAt = (place: number) => (line: Buffer) => {
  const at = place % line.length;
  return at === 0 ? [line] : [line.subarray(0, at), line.subarray(at)];
};
const good = { code: 0, surplus: [], unlisted: [] };

describe("the reader of frames", () => {
  it.each(transcripts)("$name: the same frames at every cut", ({ lines }) => {
    const bytes = Buffer.concat([...lines, Buffer.from('{"type":"é🙂\u2028"}\r\n')]);
    const whole = new FrameReader().push(bytes);
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new FrameReader();
      const frames = [...reader.push(bytes.subarray(0, at)), ...reader.push(bytes.subarray(at)), ...reader.end()];
      if (JSON.stringify(frames) !== JSON.stringify(whole)) expect(frames, `cut at ${at}`).toEqual(whole);
    }
  });
});

describe("the server", () => {
  it.each(transcripts)("$name: the same story byte by byte", async ({ text }) => {
    const bytes = (line: Buffer) => Array.from(line, (_, index) => line.subarray(index, index + 1));
    expect(await play(text, { cut: bytes })).toEqual(good);
  });

  const longest = ({ lines }: { lines: readonly Buffer[] }) => Math.max(...lines.map(({ length }) => length));
  const cuts = transcripts.flatMap((transcript) => {
    const places = isWhole ? Array.from({ length: longest(transcript) - 1 }, (_, index) => index + 1) : [13];
    return places.map((place) => ({ ...transcript, place }));
  });
  it.each(cuts)("$name: the same story with every line cut at $place", async ({ text, place }) => {
    expect(await play(text, { cut: cutAt(place) })).toEqual(good);
  });
});
