import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { type RawInput, withTerminalInput } from "./terminal-input.js";

function terminal() {
  const states: boolean[] = [];
  const stream = new PassThrough();
  const input = Object.assign(stream, { setRawMode: (isRaw: boolean) => states.push(isRaw) }) as unknown as RawInput;
  let screen = "";
  const write = (text: string) => {
    screen += text;
  };
  return { stream, states, at: { input, write }, screen: () => screen };
}

it("reads lines in raw mode, whatever pieces they come in, and echoes only what may be shown", async () => {
  const { stream, states, at, screen } = terminal();
  const bytes = Buffer.from("2\x7f17\rsecret-ü\x1b[A\x1bOP!\n");
  for (const byte of bytes) stream.write(Buffer.of(byte));
  const lines = await withTerminalInput(at, async ({ line }) => {
    expect(states).toEqual([true]);
    return [await line("Number: ", { isShown: true }), await line("Key:")];
  });
  expect(lines).toEqual(["17", "secret-ü!"]);
  expect(screen()).toBe("Number: 2\b \b17\nKey:\n");
  expect(states).toEqual([true, false]);
  expect(stream.listenerCount("data")).toBe(0);
});

it.each([
  ["Ctrl-C", "abc\x03"],
  ["Ctrl-D", "abc\x04"],
  ["an end", undefined],
])("%s cancels, and the terminal is restored", async (_name, typed) => {
  const { stream, states, at } = terminal();
  if (typed === undefined) stream.end();
  else stream.write(typed);
  expect(await withTerminalInput(at, ({ line }) => line("Key:"))).toBeUndefined();
  expect(states).toEqual([true, false]);
});

it("restores the terminal after a failure, and when the caller no longer waits for a line", async () => {
  const { states, at, screen } = terminal();
  await expect(withTerminalInput(at, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withTerminalInput(at, ({ line }) => Promise.race([line("Key:"), Promise.resolve("other")]))).toBe(
    "other",
  );
  expect([states, screen()]).toEqual([[true, false, true, false], "Key:\n"]);
});

it("keeps no more than a key can have", async () => {
  const { stream, at } = terminal();
  stream.write(`${"x".repeat(20_000)}\r`);
  expect(await withTerminalInput(at, ({ line }) => line("Key:"))).toHaveLength(16_384);
});
