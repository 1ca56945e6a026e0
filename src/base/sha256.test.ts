import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256Hex } from "./sha256.js";

it("agrees with node:crypto on any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      expect(sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
    }),
  );
});

it("pads around every block border", () => {
  for (let length = 0; length < 200; length++) {
    const text = "x".repeat(length);
    expect(sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
  }
});
