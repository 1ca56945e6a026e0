// `resizeImage` of pi: an image that is too large for a model, made smaller. galley can do that with a PNG.

import { imageSize } from "../../tools/images/image-size.js";
import { resizePng } from "../../tools/images/png-resize.js";

interface ResizeOptions {
  readonly maxWidth?: number;
  readonly maxHeight?: number;
  /** Of the image as base64. */
  readonly maxBytes?: number;
}

/** Null where it is too large and cannot be made smaller here. */
export async function resizeImage(
  bytes: Uint8Array,
  mimeType: string,
  { maxWidth = 2000, maxHeight = 2000, maxBytes = 4.5 * 1024 * 1024 }: ResizeOptions = {},
) {
  const size = imageSize(bytes, mimeType);
  if (!size) return null;
  const original = { originalWidth: size.width, originalHeight: size.height };
  const fits = size.width <= maxWidth && size.height <= maxHeight && base64Length(bytes) <= maxBytes;
  if (fits) return { ...original, ...size, data: base64(bytes), mimeType, wasResized: false };
  const scale = Math.min(1, maxWidth / size.width, maxHeight / size.height);
  for (let side = Math.max(size.width, size.height) * scale; side >= 1; side *= 0.75) {
    const small = await resizePng(bytes, Math.floor(side));
    if (!small) return null;
    const { width, height } = small;
    const data = { data: base64(small.bytes), mimeType: "image/png", wasResized: true };
    if (base64Length(small.bytes) <= maxBytes) return { ...original, width, height, ...data };
  }
  return null;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

function base64Length({ length }: Uint8Array): number {
  return Math.ceil(length / 3) * 4;
}
