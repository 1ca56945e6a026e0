// Lines from a terminal in raw mode, so that a secret is not shown while it is typed or pasted. Promises: nothing is
// echoed but a line that may be shown, and the terminal is as it was when the reading ends, however it ends.

import { StringDecoder } from "node:string_decoder";

export interface TerminalInput {
  /** Undefined: the user cancelled with Ctrl-C or Ctrl-D, or the terminal is gone. `isShown`: echoes what is typed. */
  line(prompt: string, options?: { isShown?: boolean }): Promise<string | undefined>;
}

/** The part of `process.stdin` that is used. */
export type RawInput = Pick<typeof process.stdin, "setRawMode" | "on" | "off" | "resume" | "pause">;

/** No key is this long; what is typed beyond it is not kept. */
const maxLength = 16_384;

/** Raw mode begins before the first prompt, so that a key pasted at once is not echoed either. */
export async function withTerminalInput<T>(
  { input, write }: { input: RawInput; write: (text: string) => void },
  work: (terminal: TerminalInput) => Promise<T>,
): Promise<T> {
  const decoder = new StringDecoder("utf8");
  let waiting = "";
  let hasEnded = false;
  let isAsking = false;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    waiting += decoder.write(chunk);
    wake();
  };
  const onEnd = () => {
    hasEnded = true;
    wake();
  };
  const next = async (): Promise<string | undefined> => {
    while (waiting === "" && !hasEnded)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const character = [...waiting.slice(0, 2)][0];
    waiting = waiting.slice(character?.length ?? 0);
    return character;
  };
  input.setRawMode(true);
  input.on("data", onData);
  for (const event of ["end", "close", "error"] as const) input.on(event, onEnd);
  input.resume();
  try {
    return await work({
      line: async (prompt, { isShown = false } = {}) => {
        write(prompt);
        isAsking = true;
        const line = await readLine(next, isShown ? write : () => {});
        isAsking = false;
        write("\n");
        return line;
      },
    });
  } finally {
    input.off("data", onData);
    for (const event of ["end", "close", "error"]) input.off(event, onEnd);
    input.setRawMode(false);
    input.pause();
    if (isAsking) write("\n"); // the caller waits for the line no longer
  }
}

async function readLine(
  next: () => Promise<string | undefined>,
  echo: (text: string) => void,
): Promise<string | undefined> {
  let line: string[] = [];
  for (;;) {
    const character = await next();
    switch (character) {
      case undefined:
      case "\x03":
      case "\x04":
        return undefined;
      case "\r":
      case "\n":
        return line.join("");
      case "\x7f":
      case "\b":
        if (line.pop() !== undefined) echo("\b \b");
        break;
      case "\x15": // Ctrl-U
        echo("\b \b".repeat(line.length));
        line = [];
        break;
      case "\x1b":
        await skipSequence(next);
        break;
      default:
        if (line.length >= maxLength) break;
        line.push(character);
        if (character >= " ") echo(character);
    }
  }
}

/** What the keys for the cursor send, and what some terminals put around a paste: no part of the text. */
async function skipSequence(next: () => Promise<string | undefined>): Promise<void> {
  const kind = await next();
  if (kind !== "[" && kind !== "O") return;
  for (let byte = await next(); byte !== undefined && !/[@-~]/.test(byte); byte = await next());
}
