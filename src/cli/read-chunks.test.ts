import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { chunksOf } from "./read-chunks.js";

async function collect(input: PassThrough): Promise<string> {
  let text = "";
  for await (const chunk of chunksOf(input)) text += Buffer.from(chunk).toString();
  return text;
}

it("gives everything up to the end, whatever was there before and whatever comes later", async () => {
  const input = new PassThrough({ highWaterMark: 4 });
  input.write("early ");
  const read = collect(input);
  for (const word of ["one ", "two ", "three"]) {
    input.write(word);
    await new Promise(setImmediate);
  }
  input.end();
  expect(await read).toBe("early one two three");
});

it("ends with an input that has ended, or that is closed without an end", async () => {
  const ended = new PassThrough();
  ended.end();
  expect(await collect(ended)).toBe("");
  const closed = new PassThrough();
  closed.write("last words");
  const read = collect(closed);
  await new Promise(setImmediate);
  closed.destroy();
  expect(await read).toBe("last words");
});

it("fails with its input", async () => {
  const input = new PassThrough();
  const read = collect(input);
  input.destroy(new Error("torn"));
  await expect(read).rejects.toThrow("torn");
});

it("takes the next chunk only when the last one is dealt with", async () => {
  const input = new PassThrough();
  const chunks = chunksOf(input);
  input.write("a");
  expect((await chunks.next()).value?.toString()).toBe("a");
  input.write("bb");
  await new Promise(setImmediate);
  expect(input.readableLength).toBe(2);
});
