import fc from "fast-check";
import { expect, it } from "vitest";
import { imageSize } from "./image-size.js";
import { pngOf } from "./png.test-kit.js";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const webp = (kind: string, body: string) => Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`), hex(body)]);

it.each([
  ["image/png", pngOf({ width: 300, height: 70_000, colourType: 0 }, Buffer.alloc(0)), { width: 300, height: 70_000 }],
  ["image/gif", Buffer.concat([Buffer.from("GIF89a"), hex("2c01 0800")]), { width: 300, height: 8 }],
  // An application segment, then padding, then a progressive frame.
  ["image/jpeg", hex("ffd8 ffe0 0004 0000 ff ffc2 0011 08 0010 0140 03"), { width: 320, height: 16 }],
  ["image/jpeg", hex("ffd8 ffe0 0004 0000 ffda 0004 0000 0102 0304"), undefined],
  ["image/webp", webp("VP8 ", "000000 9d012a 4001 1000 0000"), { width: 320, height: 16 }],
  ["image/webp", webp("VP8L", "2f 3fc10300 0000000000"), { width: 320, height: 16 }],
  ["image/webp", webp("VP8X", "00000000 3f0100 0f0000"), { width: 320, height: 16 }],
  ["image/png", Buffer.from("short"), undefined],
  ["image/bmp", Buffer.alloc(100), undefined],
])("reads the size of %s", (mimeType, bytes, expected) => {
  expect(imageSize(bytes, mimeType)).toEqual(expected);
});

it("ends on any bytes", () => {
  const type = fc.constantFrom("image/png", "image/gif", "image/jpeg", "image/webp");
  fc.assert(
    fc.property(type, fc.uint8Array({ maxLength: 200 }), (mimeType, bytes) => {
      const jpegLike = Buffer.concat([hex("ffd8"), Buffer.from(bytes.map((byte) => (byte % 3 === 0 ? 0xff : byte)))]);
      for (const data of [bytes, jpegLike]) expect(() => imageSize(data, mimeType)).not.toThrow();
    }),
  );
});
