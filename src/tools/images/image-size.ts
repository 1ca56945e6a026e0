// The size of an image in pixels, from its headers. Nothing is decoded.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Undefined where the headers do not say. */
export function imageSize(bytes: Uint8Array, mimeType: string): ImageSize | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = readers[mimeType]?.(data);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

const readers: { [mimeType: string]: (data: Buffer) => ImageSize | undefined } = {
  "image/png": (data) =>
    data.length < 24 ? undefined : { width: data.readUInt32BE(16), height: data.readUInt32BE(20) },
  "image/gif": (data) => (data.length < 10 ? undefined : { width: data.readUInt16LE(6), height: data.readUInt16LE(8) }),
  "image/webp": webpSize,
  "image/jpeg": jpegSize,
};

function webpSize(data: Buffer): ImageSize | undefined {
  if (data.length < 30) return undefined;
  switch (data.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = data.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** From segment to segment, to the one that begins a frame. */
function jpegSize(data: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= data.length) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) {
      at++; // padding
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
    at += 2 + Math.max(data.readUInt16BE(at + 2), 2);
  }
  return undefined;
}
