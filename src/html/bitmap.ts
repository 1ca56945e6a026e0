// A picture of a session as a data URL. Its type comes from its first bytes, never from the session's own claim, and
// its bytes are encoded again: a URL from here is a bitmap, and holds no character but those of base64.

import { isObject } from "../base/json.js";
import type { BlobStore } from "../record/store/blobs.js";
import { blobPrefix, imageUnavailable } from "../record/stored-form.js";

export const maxImageBytes = 8 * 1024 * 1024;
/** For all pictures of one page: a browser holds them all. */
export const maxPageImageBytes = 64 * 1024 * 1024;

export class Bitmaps {
  readonly #blobs: Pick<BlobStore, "get">;
  #bytesLeft = maxPageImageBytes;

  constructor(blobs: Pick<BlobStore, "get">) {
    this.#blobs = blobs;
  }

  /** An `img` element, or a line of text that says why there is none. */
  async render(block: unknown): Promise<string> {
    const data = isObject(block) && typeof block.data === "string" ? block.data : "";
    if (!data.startsWith(blobPrefix) && data.length > maxEncodedLength) return note(tooLarge);
    const bytes = data.startsWith(blobPrefix) ? await this.#blobs.get(data) : Buffer.from(data, "base64");
    if (!bytes) return note(imageUnavailable);
    const type = bitmapType(bytes);
    if (type === undefined) return note("[image left out: it is not a PNG, JPEG, GIF or WebP]");
    if (bytes.length > maxImageBytes) return note(tooLarge);
    if (bytes.length > this.#bytesLeft) return note("[image left out: the page holds too many already]");
    this.#bytesLeft -= bytes.length;
    return `<img alt="image" decoding="async" src="data:${type};base64,${bytes.toString("base64")}">`;
  }
}

const maxEncodedLength = Math.ceil(maxImageBytes / 3) * 4;
const tooLarge = `[image left out: it is larger than ${maxImageBytes / 2 ** 20} MiB]`;

function note(text: string): string {
  return `<p class="note">${text}</p>`;
}

function bitmapType(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (head.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  return head.startsWith("RIFF") && head.startsWith("WEBP", 8) ? "image/webp" : undefined;
}
