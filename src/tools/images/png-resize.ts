// Makes a PNG smaller by averaging its pixels. Only the kinds that programs write every day (8 bits, not interlaced); for
// any other, and for whatever is broken, the answer is undefined. What it may cost is bounded by the header, before
// anything is unpacked.

import { throwIfAborted } from "../../base/abort.js";
import type { ImageSize } from "./image-size.js";

const maxPixels = 24_000_000;
const rowsAtOnce = 64;
const signature = Buffer.from("\u0089PNG\r\n\u001a\n", "latin1");
/** Bytes of a pixel by the colour type: grey, colour, palette, grey with alpha, colour with alpha. */
const pixelBytes: { [colourType: number]: number } = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface Png extends ImageSize {
  readonly colourType: number;
  readonly palette: Buffer;
  readonly transparency: Buffer;
  readonly packed: Buffer;
}

/** No side of the result is longer than `maxSide`. */
export async function resizePng(
  bytes: Uint8Array,
  maxSide: number,
  signal?: AbortSignal,
): Promise<(ImageSize & { bytes: Buffer }) | undefined> {
  const png = parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (png === undefined || png.width * png.height > maxPixels) return undefined;
  const rows = await unpack(png);
  if (rows === undefined) return undefined;
  const scale = Math.min(1, maxSide / Math.max(png.width, png.height));
  const width = Math.max(1, Math.round(png.width * scale));
  const height = Math.max(1, Math.round(png.height * scale));
  const small = new Averager(png.width, { width, height });
  const readPixel = pixelReader(png);
  const rowBytes = png.width * (pixelBytes[png.colourType] ?? 0);
  let above: Buffer = Buffer.alloc(rowBytes);
  for (let y = 0; y < png.height; y++) {
    if (y % rowsAtOnce === 0) await new Promise(setImmediate); // others get their turn
    throwIfAborted(signal);
    const start = y * (rowBytes + 1);
    const row = rows.subarray(start + 1, start + 1 + rowBytes);
    if (!unfilter(rows[start] ?? 0, row, above, pixelBytes[png.colourType] ?? 0)) return undefined;
    small.add(row, readPixel);
    above = row;
    if (Math.floor(((y + 1) * height) / png.height) > Math.floor((y * height) / png.height)) small.endRow();
  }
  return { width, height, bytes: await pack({ width, height }, small.rows) };
}

function parse(data: Buffer): Png | undefined {
  if (data.length < 33 || !data.subarray(0, 8).equals(signature)) return undefined;
  const [depth, colourType, interlace] = [data[24], data[25] ?? 0, data[28]];
  if (depth !== 8 || interlace !== 0 || pixelBytes[colourType] === undefined) return undefined;
  const packed: Buffer[] = [];
  let palette: Buffer = Buffer.alloc(0);
  let transparency: Buffer = Buffer.alloc(0);
  for (let at = 8; at + 12 <= data.length; ) {
    const length = data.readUInt32BE(at);
    const name = data.toString("latin1", at + 4, at + 8);
    const body = data.subarray(at + 8, at + 8 + length);
    if (name === "acTL") return undefined; // animated: the first picture is not the whole of it
    if (name === "IDAT") packed.push(body);
    else if (name === "PLTE") palette = body;
    else if (name === "tRNS") transparency = body;
    at += 12 + length;
  }
  const size = { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  return { ...size, colourType, palette, transparency, packed: Buffer.concat(packed) };
}

async function unpack({ width, height, colourType, packed }: Png): Promise<Buffer | undefined> {
  const { inflate } = await import("node:zlib");
  const expected = height * (width * (pixelBytes[colourType] ?? 0) + 1);
  return new Promise((resolve) => {
    inflate(packed, { maxOutputLength: expected + 1 }, (error, rows) =>
      resolve(error === null && rows.length === expected ? rows : undefined),
    );
  });
}

/** In place. False for an unknown filter. */
function unfilter(filter: number, row: Buffer, above: Buffer, distance: number): boolean {
  if (filter > 4) return false;
  for (let at = 0; at < row.length && filter !== 0; at++) {
    const left = at < distance ? 0 : (row[at - distance] ?? 0);
    const up = above[at] ?? 0;
    const corner = at < distance ? 0 : (above[at - distance] ?? 0);
    const guess = filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : paeth(left, up, corner);
    row[at] = (row[at] ?? 0) + guess;
  }
  return true;
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

type Pixel = [red: number, green: number, blue: number, alpha: number];
type ReadPixel = (row: Buffer, x: number, pixel: Pixel) => void;

function pixelReader({ colourType, palette, transparency }: Png): ReadPixel {
  const stride = pixelBytes[colourType] ?? 0;
  const isGrey = colourType === 0 || colourType === 4;
  // One colour of an image without alpha may stand for nothing at all; its samples are 16 bits wide.
  const clear = [1, 3, 5].map((at) => transparency[at]);
  return (row, x, pixel) => {
    const at = x * stride;
    if (colourType === 3) {
      const entry = row[at] ?? 0;
      for (let part = 0; part < 3; part++) pixel[part] = palette[entry * 3 + part] ?? 0;
      pixel[3] = transparency[entry] ?? 255;
      return;
    }
    for (let part = 0; part < 3; part++) pixel[part] = row[isGrey ? at : at + part] ?? 0;
    if (colourType >= 4) pixel[3] = row[at + stride - 1] ?? 255;
    else
      pixel[3] =
        clear[0] !== undefined && pixel.slice(0, stride).every((part, index) => part === clear[index]) ? 0 : 255;
  };
}

/** Colours are weighted by alpha, so that transparent pixels do not tint their neighbours. */
class Averager {
  /** With a filter byte in front of each, as they are packed. */
  readonly rows: Buffer[] = [];
  readonly #size: ImageSize;
  readonly #columns: Uint32Array;
  readonly #sums: Float64Array;
  readonly #pixel: Pixel = [0, 0, 0, 0];

  constructor(sourceWidth: number, size: ImageSize) {
    this.#size = size;
    this.#columns = Uint32Array.from({ length: sourceWidth }, (_, x) => Math.floor((x * size.width) / sourceWidth));
    this.#sums = new Float64Array(size.width * 5);
  }

  add(row: Buffer, readPixel: ReadPixel): void {
    const [sums, pixel] = [this.#sums, this.#pixel];
    for (let x = 0; x < this.#columns.length; x++) {
      readPixel(row, x, pixel);
      const at = (this.#columns[x] ?? 0) * 5;
      for (let part = 0; part < 3; part++) sums[at + part] = (sums[at + part] ?? 0) + (pixel[part] ?? 0) * pixel[3];
      sums[at + 3] = (sums[at + 3] ?? 0) + pixel[3];
      sums[at + 4] = (sums[at + 4] ?? 0) + 1;
    }
  }

  endRow(): void {
    const { width } = this.#size;
    const row = Buffer.alloc(1 + width * 4);
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0, alpha = 0, count = 0] = this.#sums.subarray(x * 5, x * 5 + 5);
      for (const [part, sum] of [red, green, blue].entries()) row[1 + x * 4 + part] = Math.round(sum / (alpha || 1));
      row[1 + x * 4 + 3] = Math.round(alpha / (count || 1));
    }
    // The difference to the pixel on the left compresses better than the pixel itself.
    for (let at = width * 4; at > 4; at--) row[at] = (row[at] ?? 0) - (row[at - 4] ?? 0);
    row[0] = 1;
    this.rows.push(row);
    this.#sums.fill(0);
  }
}

async function pack({ width, height }: ImageSize, rows: readonly Buffer[]): Promise<Buffer> {
  const { deflate } = await import("node:zlib");
  const packed = await new Promise<Buffer>((resolve, reject) => {
    deflate(Buffer.concat(rows), (error, result) => (error ? reject(error) : resolve(result)));
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8); // 8 bits; colour with alpha
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", packed), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  check.writeUInt32BE(checksum(named));
  return Buffer.concat([length, named, check]);
}

/** CRC-32, as the format has it. */
function checksum(bytes: Buffer): number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
