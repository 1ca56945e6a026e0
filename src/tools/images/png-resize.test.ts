import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { imageSize } from "./image-size.js";
import { drawPng, pixelsOf, pngChunk, pngOf } from "./png.test-kit.js";
import { resizePng } from "./png-resize.js";

const palette = [pngChunk("PLTE", Buffer.from([9, 8, 7, 200, 100, 50])), pngChunk("tRNS", Buffer.from([255, 128]))];

it.each([
  ["grey", 0, [77], [], [77, 77, 77, 255]],
  ["colour", 2, [1, 2, 3], [], [1, 2, 3, 255]],
  ["colour that means nothing", 2, [1, 2, 3], [pngChunk("tRNS", Buffer.from([0, 1, 0, 2, 0, 3]))], [0, 0, 0, 0]],
  ["palette", 3, [1], palette, [200, 100, 50, 128]],
  ["grey with alpha", 4, [77, 100], [], [77, 77, 77, 100]],
  ["colour with alpha", 6, [1, 2, 3, 40], [], [1, 2, 3, 40]],
])(
  "keeps a plain area of %s, in fewer pixels and whatever the filters",
  async (_, colourType, pixel, more, expected) => {
    const png = drawPng({ width: 10, height: 7, colourType, more, at: () => pixel, filter: (y) => y % 5 });
    const small = await resizePng(png, 5);
    expect([small?.width, small?.height]).toEqual([5, 4]);
    expect(imageSize(small?.bytes ?? Buffer.of(), "image/png")).toEqual({ width: 5, height: 4 });
    expect(pixelsOf(small?.bytes ?? Buffer.of())).toEqual(Array.from({ length: 20 }, () => expected));
  },
);

it("averages what comes together, and what is clear lends no colour", async () => {
  const at = (x: number, y: number) => (x < 2 ? [y * 10, 0, 0, 255] : x === 2 ? [50, 60, 70, 255] : [255, 255, 255, 0]);
  const small = await resizePng(drawPng({ width: 4, height: 2, colourType: 6, at }), 2);
  expect(pixelsOf(small?.bytes ?? Buffer.of())).toEqual([
    [5, 0, 0, 255],
    [50, 60, 70, 128],
  ]);
});

it("undoes every filter: the same pixels come out as without", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(255), { minLength: 108, maxLength: 108 }),
      fc.array(fc.nat(4), { minLength: 6, maxLength: 6 }),
      async (values, filters) => {
        const at = (x: number, y: number) => values.slice((y * 6 + x) * 3, (y * 6 + x) * 3 + 3);
        const drawn = { width: 6, height: 6, colourType: 2, at };
        const [plain, filtered] = [drawPng(drawn), drawPng({ ...drawn, filter: (y) => filters[y] ?? 0 })];
        expect(await resizePng(filtered, 3)).toEqual(await resizePng(plain, 3));
      },
    ),
    { numRuns: runs(50) },
  );
});

const size = { width: 4, height: 4, colourType: 0 };

it.each([
  ["interlaced", pngOf({ ...size, interlace: 1 }, deflateSync(Buffer.alloc(20)))],
  ["animated", pngOf(size, deflateSync(Buffer.alloc(20)), [pngChunk("acTL")])],
  ["too short", pngOf(size, deflateSync(Buffer.alloc(19)))],
  ["too long, as a bomb is", pngOf(size, deflateSync(Buffer.alloc(10_000_000)))],
  ["not packed at all", pngOf(size, Buffer.from("no"))],
  ["of an unknown filter", pngOf(size, deflateSync(Buffer.alloc(20, 9)))],
  ["of more pixels than we unpack", pngOf({ ...size, width: 2 ** 31, height: 2 ** 31 }, deflateSync(Buffer.alloc(20)))],
  ["no image", Buffer.from("hello, this is nothing at all, and it is long enough")],
])("leaves one that is %s alone", async (_, png) => {
  expect(await resizePng(png, 2)).toBeUndefined();
});

it("throws on no bytes whatever", async () => {
  const png = drawPng({ width: 5, height: 5, colourType: 2, at: (x, y) => [x, y, 7] });
  await fc.assert(
    fc.asyncProperty(fc.nat(png.length - 1), fc.nat(255), fc.nat(png.length), async (at, value, length) => {
      const broken = Buffer.from(png.subarray(0, length));
      if (at < length) broken[at] = value;
      const small = await resizePng(broken, 2);
      if (small) expect(Math.max(small.width, small.height)).toBeLessThanOrEqual(2);
    }),
    { numRuns: runs(300) },
  );
});
