// What a one-shot run is asked: piped input, then @files, then the words, as one prompt; every `--then` is a prompt of
// its own.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { GalleyError, messageOf } from "../base/errors.js";
import type { ImageContent } from "../protocol/content.js";

export interface Prompt {
  text: string;
  images: ImageContent[];
}

const maxTextBytes = 5 * 1024 * 1024;
const tooMuchText =
  "The piped input is larger than 5 MiB, more than a model can take. Keep it in a file and name the file in the message.";
const maxImageBytes = 25 * 1024 * 1024;
const imageTypes: readonly [string, string][] = [
  ["89504e470d0a1a0a", "image/png"],
  ["ffd8ff", "image/jpeg"],
  ["474946383761", "image/gif"],
  ["474946383961", "image/gif"],
];

export async function promptsOf(
  words: readonly string[],
  { cwd, further = [] }: { cwd: string; further?: readonly string[] },
): Promise<Prompt[]> {
  const files = words.filter((word) => word.startsWith("@")).map((word) => readAttachment(resolve(cwd, word.slice(1))));
  const first = words.findIndex((word) => !word.startsWith("@"));
  // Files before the first word are only attached; a name within the sentence is part of it.
  const said =
    first < 0
      ? ""
      : words
          .slice(first)
          .map((word) => word.replace(/^@/, ""))
          .join(" ");
  const piped = process.stdin.isTTY ? "" : await readInput();
  const parts = [piped.trim(), ...files.map((file) => file.text), said].filter((part) => part.trim() !== "");
  if (parts.length === 0 && further.length === 0)
    throw new GalleyError("usage", "Nothing to do: give a message, for example galley -p 'help'. See galley --help.");
  const opening = { text: parts.join("\n\n"), images: files.flatMap((file) => file.images) };
  return [...(parts.length === 0 ? [] : [opening]), ...further.map((text) => ({ text, images: [] }))];
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxTextBytes) throw new GalleyError("usage", tooMuchText);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readAttachment(path: string): Prompt {
  try {
    const { bytes, size } = readFile(path);
    const open = `<file name="${path.replaceAll('"', "&quot;")}">`;
    if (!bytes) return { text: `${open}(skipped: too large, ${size} bytes)</file>`, images: [] };
    const mimeType = imageType(bytes);
    if (mimeType)
      return { text: `${open}</file>`, images: [{ type: "image", data: bytes.toString("base64"), mimeType }] };
    if (size > maxTextBytes) return { text: `${open}(skipped: too large, ${size} bytes)</file>`, images: [] };
    return { text: `${open}\n${bytes.toString("utf8")}\n</file>`, images: [] };
  } catch (error) {
    throw new GalleyError("start_failed", `Cannot read ${path}: ${messageOf(error)}`);
  }
}

/** Undefined where it is no image, or cannot be read. */
export function readImage(path: string): ImageContent | undefined {
  try {
    const { bytes } = readFile(path);
    const mimeType = bytes && imageType(bytes);
    return bytes && mimeType ? { type: "image", data: bytes.toString("base64"), mimeType } : undefined;
  } catch {
    return undefined;
  }
}

/** Opened without blocking, since it may be a pipe, and never read without end, whatever its size says. */
function readFile(path: string): { bytes?: Buffer; size: number } {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new GalleyError("start_failed", "it is not a regular file");
    const chunks: Buffer[] = [];
    let size = 0;
    while (status.size <= maxImageBytes && size <= maxImageBytes) {
      const chunk = Buffer.allocUnsafe(1024 * 1024);
      const count = readSync(file, chunk);
      if (count === 0) return { bytes: Buffer.concat(chunks), size };
      chunks.push(chunk.subarray(0, count));
      size += count;
    }
    return { size: Math.max(size, status.size) };
  } finally {
    closeSync(file);
  }
}

function imageType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString("hex");
  if (head.startsWith("52494646") && head.endsWith("57454250")) return "image/webp";
  return imageTypes.find(([magic]) => head.startsWith(magic))?.[1];
}
