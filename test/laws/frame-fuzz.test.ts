// F-42: mutated frames through the reader and the schemas: no line throws, none takes long, every line is at most one
// frame or one refusal, and what comes after a bad line is read as if it had not been there.

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FrameReader } from "../../src/base/ndjson.js";
import { checkCommand } from "../../src/protocol/check-command.js";

const count = Number(process.env.GALLEY_FUZZ_FRAMES ?? 20_000);
const folder = new URL("../transcripts/", import.meta.url);
const page = readFileSync(new URL("../../docs/rpc.md", import.meta.url), "utf8");
const transcripts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
const corpus = [...transcripts.join("\n").matchAll(/^> (.*)$/gm), ...page.matchAll(/^(\{"(?:id|type)".*)$/gm)].map(
  ([, line = ""]) => Buffer.from(line),
);
const tokens = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "null",
  "1e999",
  "\\ud800",
  "\u2028",
  "\0",
  "\ufeff",
  "\r",
].map((text) => Buffer.from(text));
const sentinel = Buffer.from('\n{"id":"next","type":"abort"}\n');

it(`${count} mutated frames: never a throw, never a hang, and the next line is whole`, () => {
  const random = randomOf(1);
  let slowestMs = 0;
  for (let round = 0; round < count; round++) {
    const line = mutate(corpus[random(corpus.length)] as Buffer, random);
    const started = performance.now();
    const reader = new FrameReader();
    const cut = random(line.length + 1);
    const frames = [
      ...reader.push(line.subarray(0, cut)),
      ...reader.push(line.subarray(cut)),
      ...reader.push(sentinel),
    ];
    for (const frame of frames) if (frame.ok) checkCommand(frame.value);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    const lines = line.filter((byte) => byte === 0x0a).length + 2;
    const last = frames.at(-1);
    if (frames.length > lines || last?.ok !== true || last.value.id !== "next")
      expect({ line: line.toString("latin1"), frames }).toBeUndefined();
  }
  expect(slowestMs).toBeLessThan(1000);
}, 3_600_000);

/** A few changes: a byte, a token, a piece lost, doubled, or taken from another frame. */
function mutate(line: Buffer, random: (below: number) => number): Buffer {
  let bytes = line;
  for (let change = random(4); change >= 0; change--) {
    const at = random(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const other = corpus[random(corpus.length)] as Buffer;
    const from = random(other.length);
    const middles = [
      Buffer.of(random(256)),
      tokens[random(tokens.length)] as Buffer,
      other.subarray(from, from + random(200)),
      before.subarray(-random(50) - 1),
      Buffer.alloc(random(200), "["),
    ];
    const rest = random(3) === 0 ? after.subarray(random(20)) : after;
    bytes = Buffer.concat([before, middles[random(middles.length)] as Buffer, rest]);
  }
  return bytes;
}

/** The same numbers every time. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
