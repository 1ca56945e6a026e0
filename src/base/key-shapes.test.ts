import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { maskKeyShapes } from "./key-shapes.js";

const letters = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD".repeat(3);
const pem = (body: string) =>
  ["-----BEGIN RSA ", "PRIVATE KEY-----\n", body, "\n-----END RSA ", "PRIVATE KEY-----"].join("");

describe("K-6: keys known by their shape", () => {
  it.each([
    `sk-${"ant-api03"}-${letters}`,
    `sk-${"proj"}-${letters}`,
    `ghp${"_"}${letters.slice(0, 36)}`,
    `github${"_pat_"}${letters.slice(0, 60)}`,
    `glpat${"-"}${letters.slice(0, 20)}`,
    `xoxb${"-"}${letters.slice(0, 40)}`,
    `AIza${letters.slice(0, 35)}`,
    `AKIA${"IOSFODNN7EXAMPLE"}`,
    pem(`${letters}\n${letters}`),
    pem(`${letters}\\n${letters}`),
  ])("are masked: %s", (value) => {
    expect(maskKeyShapes(`a ${value} b`)).toBe("a [secret:key] b");
    expect(maskKeyShapes(`key="${value}"`)).toBe('key="[secret:key]"');
  });

  it("without the end of a private key, and with line numbers between its lines", () => {
    const cut = pem(letters).slice(0, 100);
    expect(maskKeyShapes(cut)).toBe("[secret:key]");
    expect(maskKeyShapes(pem(`12| ${letters}\n13| ${letters}`))).toBe("[secret:key]");
  });

  it.each([
    "sk-ant-api03-…",
    "the prefix ghp_ and AKIA",
    `x${"AKIA"}IOSFODNN7EXAMPLE`,
    "-----BEGIN PRIVATE KEY-----",
    "sk-proj-short",
  ])("are told from other text: %s", (text) => {
    expect(maskKeyShapes(text)).toBe(text);
  });

  it("are in none of the project's own sources", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const found: string[] = [];
    for (const folder of ["src", "docs", "examples", "test/kit", "test/transcripts"])
      for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:ts|mjs|md|json|jsonl|yml|txt)$/.test(name) || name.endsWith(".test.ts")) continue;
        const text = readFileSync(join(root, folder, name), "utf8");
        if (maskKeyShapes(text) !== text) found.push(join(folder, name));
      }
    expect(found).toEqual([]);
  });

  it("cost one pass over a text of beginnings", () => {
    const text = "-----BEGIN PRIVATE KEY-----\nMIIE\n".repeat(50_000);
    expect(maskKeyShapes(text).length).toBeLessThanOrEqual(text.length);
    const dashes = "sk-ant-".repeat(200_000);
    expect(maskKeyShapes(dashes).length).toBeLessThanOrEqual(dashes.length);
  });
});
