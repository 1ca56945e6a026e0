import { describe, expect, it } from "vitest";
import type { Frame, TypedObject } from "../base/ndjson.js";
import { ChunkAssembler } from "./join-chunks.js";

const whole = { type: "agent_end", text: "ä".repeat(700_000) };
const bytes = Buffer.from(JSON.stringify(whole));

function piecesOf(content: Buffer, size = 262_144): TypedObject[] {
  const count = Math.ceil(content.length / size);
  return Array.from({ length: count }, (_, index) => ({
    type: "rpc_chunk",
    chunkId: "rpc-1",
    index,
    count,
    byteLength: content.length,
    data: content.subarray(index * size, (index + 1) * size).toString("base64"),
  }));
}

function take(frames: TypedObject[], assembler = new ChunkAssembler()): Frame[] {
  return frames.flatMap((frame) => assembler.take(frame));
}

const bad = { ok: false, problem: expect.stringContaining("The pieces of rpc_chunk") };
const good = { ok: true, value: whole };
const pieces = piecesOf(bytes);
const changed = (at: number, more: object) =>
  pieces.map((piece, index) => (index === at ? { ...piece, ...more } : piece));

describe("the pieces of a frame", () => {
  it("are put together, one frame after the other", () => {
    const assembler = new ChunkAssembler();
    expect(take(pieces, assembler)).toEqual([good]);
    expect(take([{ type: "agent_start" }, ...pieces], assembler)).toEqual([
      { ok: true, value: { type: "agent_start" } },
      good,
    ]);
  });

  it.each([
    ["one missing", [...pieces.slice(0, 2), ...pieces.slice(3)]],
    ["the first missing", pieces.slice(1)],
    ["one twice", [...pieces.slice(0, 2), ...pieces.slice(1)]],
    ["no base64", changed(1, { data: "%%%%" })],
    ["base64 with a line end", changed(1, { data: `${pieces[1]?.data}\n` })],
    ["no data", changed(1, { data: undefined })],
    ["an empty piece", changed(1, { data: "" })],
    ["another length", changed(1, { byteLength: bytes.length + 1 })],
    ["another count", changed(1, { count: 99 })],
    ["no id", pieces.map(({ chunkId: _, ...piece }) => piece as TypedObject)],
    ["more bytes than announced", pieces.map((piece) => ({ ...piece, byteLength: bytes.length - 1 }))],
    ["fewer bytes than announced", pieces.map((piece) => ({ ...piece, byteLength: bytes.length + 1 }))],
    ["a frame that need not be cut", piecesOf(Buffer.from('{"type":"agent_start"}'), 10)],
    ["pieces that are too large", piecesOf(bytes, 400_000)],
    ["a frame beyond all limits", changed(0, { byteLength: 65 * 1024 * 1024 })],
    ["a count of one", [{ ...pieces[0], count: 1 } as TypedObject]],
  ])("are refused: %s", (_, frames) => {
    const assembler = new ChunkAssembler();
    const seen = take(frames, assembler);
    expect(seen[0]).toEqual(bad);
    expect(seen).not.toContainEqual(good);
    expect(take([{ type: "agent_start" }], assembler).at(-1)).toEqual({ ok: true, value: { type: "agent_start" } });
    expect(
      take(
        pieces.map((piece) => ({ ...piece, chunkId: "rpc-2" })),
        assembler,
      ),
    ).toEqual([good]);
  });

  it("of a broken frame cost one problem, and what interrupted them is delivered", () => {
    expect(take([...pieces.slice(0, 2), { type: "agent_start" }, ...pieces.slice(2)])).toEqual([
      bad,
      { ok: true, value: { type: "agent_start" } },
    ]);
  });

  it("that make no frame are a problem like any line", () => {
    const [frame] = take(piecesOf(Buffer.from(`"${"x".repeat(1_100_000)}"`)));
    expect(frame).toMatchObject({ ok: false, problem: expect.stringContaining("no object with a type") });
  });
});
