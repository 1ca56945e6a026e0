// How many pictures one message may carry. The bounds are checked on the base64 text, before anything decodes it.

import { GalleyError } from "../../base/errors.js";
import type { ImageContent } from "../../protocol/content.js";

const maxImages = 100;
const maxImageBytes = 20 * 1024 * 1024;

export function boundedImages(command: { type: string; images?: ImageContent[] }): ImageContent[] {
  const { type, images = [] } = command;
  const isTooLarge = ({ data }: ImageContent) => (data.length * 3) / 4 > maxImageBytes;
  if (images.length > maxImages || images.some(isTooLarge))
    throw new GalleyError(
      "invalid_argument",
      `Invalid ${type}: images must be at most ${maxImages} blocks of at most 20 MiB each`,
    );
  return images;
}
