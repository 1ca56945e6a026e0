// How changes look on a terminal. Colours only for a terminal, and never against the user's wish.

import type { WriteStream } from "node:tty";

const green = "\u001b[32m";
const red = "\u001b[31m";
const cyan = "\u001b[36m";
const plain = "\u001b[0m";

/** The text is already clean: the colours added here are the only sequences in it. */
export function colouredDiff(diff: string, output: Pick<WriteStream, "isTTY">): string {
  if (!output.isTTY || process.env.NO_COLOR) return diff;
  return diff.replace(/^.*$/gm, (line) => {
    if (line.startsWith("+++") || line.startsWith("---")) return line;
    const colour = { "+": green, "-": red, "@": cyan }[line[0] ?? ""];
    return colour === undefined ? line : `${colour}${line}${plain}`;
  });
}
