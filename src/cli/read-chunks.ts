// The chunks of an input, each read when the one before is handled. Node's own iterator over a stream does more setup
// than a start can spare.

import type { Readable } from "node:stream";

export async function* chunksOf(input: Readable): AsyncGenerator<Uint8Array, void> {
  let wake = () => {};
  let isOver = false;
  let failure: Error | undefined;
  const over = () => {
    isOver = true;
    wake();
  };
  input.on("readable", () => wake());
  input.once("end", over);
  input.once("close", over);
  input.once("error", (error) => {
    failure = error;
    over();
  });
  for (;;) {
    const chunk: Uint8Array | null = input.read();
    if (chunk) yield chunk;
    else if (failure) throw failure;
    else if (isOver) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
