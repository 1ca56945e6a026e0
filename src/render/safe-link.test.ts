import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { safeLink } from "./safe-link.js";

describe("safeLink", () => {
  it.each([
    ["https://example.org/a?b=1#c", "https://example.org/a?b=1#c"],
    ["HTTP://Example.org", "http://example.org/"],
    ["mailto:a@example.org?subject=x y", "mailto:a@example.org?subject=x%20y"],
    ["https://müller.example/ü", "https://xn--mller-kva.example/%C3%BC"],
    ['https://example.org/"onclick="x', "https://example.org/%22onclick=%22x"],
  ])("takes %s", (address, link) => {
    expect(safeLink(address)).toBe(link);
  });

  it.each([
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001https://example.org",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.org/x",
    "//example.org",
    "/a",
    "a.html",
    "#x",
    "",
    "https:example.org",
    "https://user@example.org",
    "https://bank.example:x@evil.example",
    "https://exa mple.org",
    `https://example.org/${"x".repeat(2048)}`,
  ])("refuses %j", (address) => {
    expect(safeLink(address)).toBeUndefined();
  });

  it("answers printable ASCII of three protocols, or nothing", () => {
    const beginnings = fc.constantFrom("http://", "https://", "mailto:", "javascript:", "");
    fc.assert(
      fc.property(beginnings, fc.string({ unit: "binary" }), (beginning, rest) => {
        expect(safeLink(beginning + rest) ?? "mailto:").toMatch(/^(?:https?:\/\/|mailto:)[!-~]*$/);
      }),
    );
  });
});
