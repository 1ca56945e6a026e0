import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../record/store/blobs.js";
import { Bitmaps, maxImageBytes, maxPageImageBytes } from "./bitmap.js";

const png = Buffer.from("\u0089PNG\r\n\u001a\n rest", "latin1");
const render = (data: unknown, mimeType: unknown = "image/png") =>
  new Bitmaps(createMemoryBlobs()).render({ type: "image", data, mimeType });

describe("a picture", () => {
  it.each([
    ["png", png],
    ["jpeg", Buffer.from("\u00ff\u00d8\u00ff\u00e0", "latin1")],
    ["gif", Buffer.from("GIF89a...")],
    ["webp", Buffer.from("RIFF....WEBPVP8 ")],
  ])("is a %s by its bytes, whatever it says it is", async (type, bytes) => {
    const data = bytes.toString("base64");
    expect(await render(data, 'image/svg+xml" onerror="x')).toBe(
      `<img alt="image" decoding="async" src="data:image/${type};base64,${data}">`,
    );
  });

  it.each(["<svg onload=x>", "BM bitmap", "\u0000\u0000\u0001\u0000 icon", "", "RIFF....WAVE"])(
    "is left out when it is something else: %j",
    async (text) => {
      expect(await render(Buffer.from(text).toString("base64"))).toBe(
        '<p class="note">[image left out: it is not a PNG, JPEG, GIF or WebP]</p>',
      );
    },
  );

  it("is encoded anew, so that nothing can hide behind its data", async () => {
    expect(await render(`${png.toString("base64")}" onerror="x`)).toMatch(/base64,[A-Za-z0-9+/=]+">$/);
  });

  it("is left out without data, or when no blob has its name", async () => {
    expect(await render({ toString: 1 })).toContain("[image left out");
    expect(await render("blob:sha256:../../etc/passwd")).toBe('<p class="note">[image unavailable]</p>');
  });

  it("comes from its blob", async () => {
    const blobs = createMemoryBlobs();
    const data = await blobs.put(png);
    expect(await new Bitmaps(blobs).render({ data })).toContain(png.toString("base64"));
  });

  it("is left out when it is too large by itself, or one too many", async () => {
    const large = Buffer.concat([png, Buffer.alloc(maxImageBytes - png.length)]);
    expect(await render(`${large.toString("base64")}AAAA`)).toContain("larger than 8 MiB");
    const data = large.toString("base64");
    const bitmaps = new Bitmaps(createMemoryBlobs());
    for (let left = maxPageImageBytes; left > 0; left -= maxImageBytes)
      expect((await bitmaps.render({ data })).startsWith("<img")).toBe(true);
    expect(await bitmaps.render({ data })).toContain("too many");
  });
});
