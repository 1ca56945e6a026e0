// The image in the clipboard, read by a program that the desktop has for it.

import { execFile } from "node:child_process";
import type { ImageContent } from "../../protocol/content.js";

const maxBytes = 25 * 1024 * 1024;
const timeoutMs = 3000;

const readers: readonly (readonly [program: string, ...args: string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
  ["pngpaste", "-"],
];

export type ClipboardImage = ImageContent | "no program" | "no image";

export async function clipboardImage(): Promise<ClipboardImage> {
  let hasProgram = false;
  for (const [program, ...args] of readers) {
    const bytes = await outputOf(program, args);
    if (bytes === undefined) continue;
    hasProgram = true;
    if (isPng(bytes)) return { type: "image", data: bytes.toString("base64"), mimeType: "image/png" };
  }
  return hasProgram ? "no image" : "no program";
}

/** Undefined: there is no such program. */
function outputOf(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { encoding: "buffer", maxBuffer: maxBytes, timeout: timeoutMs }, (error, stdout) => {
      const isMissing = (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
      resolve(isMissing ? undefined : error ? Buffer.alloc(0) : stdout);
    });
  });
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, 8).toString("hex") === "89504e470d0a1a0a";
}
