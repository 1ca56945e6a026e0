// PNG files for tests, written and read with nothing of the code that is tested.

import { deflateSync, inflateSync } from "node:zlib";

export interface DrawnPng {
  width: number;
  height: number;
  /** 0 grey, 2 colour, 3 palette, 4 grey with alpha, 6 colour with alpha. */
  colourType: number;
  /** The bytes of the pixel. */
  at: (x: number, y: number) => readonly number[];
  /** The filter of each row; default none. */
  filter?: (y: number) => number;
  more?: readonly Buffer[];
}

export function drawPng({ width, height, colourType, at, filter = () => 0, more = [] }: DrawnPng): Buffer {
  const rows: number[][] = [];
  for (let y = 0; y < height; y++) rows.push(Array.from({ length: width }, (_, x) => at(x, y)).flat());
  const stride = (rows[0]?.length ?? 0) / width;
  const packed = rows.flatMap((row, y) => {
    const kind = filter(y);
    const above = rows[y - 1] ?? [];
    return [
      kind,
      ...row.map((value, index) => {
        const [left = 0, up = 0, corner = 0] = [row[index - stride], above[index], above[index - stride]];
        const nearest = [left, up, corner].reduce((best, one) => {
          const distance = (guess: number) => Math.abs(left + up - corner - guess);
          return distance(one) < distance(best) ? one : best;
        });
        return (value - ([0, left, up, Math.floor((left + up) / 2), nearest][kind] ?? 0)) & 0xff;
      }),
    ];
  });
  return pngOf({ width, height, colourType }, deflateSync(Buffer.from(packed)), more);
}

export function pngOf(
  {
    width,
    height,
    colourType,
    interlace = 0,
  }: { width: number; height: number; colourType: number; interlace?: number },
  packed: Buffer,
  more: readonly Buffer[] = [],
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colourType, 0, 0, interlace], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, pngChunk("IHDR", header), ...more, pngChunk("IDAT", packed), pngChunk("IEND")]);
}

/** The checksum is wrong: the code under test does not check it. */
export function pngChunk(name: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, Buffer.from(name), body, Buffer.alloc(4)]);
}

/** The pixels of what we write ourselves: colour with alpha, each row told by differences to the left. */
export function pixelsOf(png: Buffer): number[][] {
  const width = png.readUInt32BE(16);
  const packedAt = png.indexOf("IDAT");
  const packed = png.subarray(packedAt + 4, packedAt + 4 + png.readUInt32BE(packedAt - 4));
  const rows = inflateSync(packed);
  const pixels: number[][] = [];
  for (let start = 0; start < rows.length; start += 1 + width * 4) {
    let last = [0, 0, 0, 0];
    for (let x = 0; x < width; x++) {
      const at = start + 1 + x * 4;
      last = last.map((value, part) => (value + (rows[at + part] ?? 0)) & 0xff);
      pixels.push(last);
    }
  }
  return pixels;
}
