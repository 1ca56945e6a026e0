import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { createMask } from "./secret-mask.js";
import { maskBytes, maskDeep, noMask, type TextMask } from "./text-mask.js";

const key = "sk-ant-api03-Zq9+x/Y2w==";
const one = createMask([{ value: key, name: "anthropic" }]);

function streamed(mask: TextMask, pieces: readonly string[]): string {
  const stream = mask.stream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

describe("K-1: what is masked", () => {
  it.each([
    ["as it is", key],
    ["URL-encoded", encodeURIComponent(key)],
    ["URL-encoded in lower case", encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase())],
    ["inside JSON", JSON.stringify(key).slice(1, -1)],
  ])("a key %s", (_name, form) => {
    expect(one.mask(`before ${form} after`)).toBe("before [secret:anthropic] after");
  });

  it.each([0, 1, 2])("a key in base64 with %i bytes before it, in both alphabets", (count) => {
    for (const alphabet of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${"u".repeat(count)}${key}:after`).toString(alphabet);
      const masked = one.mask(encoded);
      expect(masked).toContain("[secret:anthropic]");
      const rest = masked.replace("[secret:anthropic]", "");
      expect(rest.length).toBeLessThan(encoded.length - (key.length * 4) / 3 + 3);
    }
  });

  it("characters that mean something in a pattern", () => {
    const value = String.raw`a.*(b|c)[d]{2}\w^$/-+?`;
    const mask = createMask([{ value, name: "X" }]);
    expect(mask.mask(`<${value}> aXXbd`)).toBe("<[secret:X]> aXXbd");
    expect(mask.mask(JSON.stringify({ value }))).toBe('{"value":"[secret:X]"}');
  });

  it("the longest of those that begin together, and the first of those that overlap", () => {
    const mask = createMask([
      { value: "password", name: "SHORT" },
      { value: "password-and-more", name: "LONG" },
      { value: "more-than-that", name: "LATER" },
    ]);
    expect(mask.mask("password-and-more-than-that")).toBe("[secret:LONG]-than-that");
    expect(mask.mask("password-and-less")).toBe("[secret:SHORT]-and-less");
    expect(streamed(mask, [..."password-and-less"])).toBe("[secret:SHORT]-and-less");
  });

  it("each long line of a value with several", () => {
    const lines = ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0B", "AQEFAASCBKcwggSjAgEAAoIB", "short"];
    const mask = createMask([{ value: lines.join("\n"), name: "KEY" }]);
    expect(mask.mask(lines.join("\n"))).toBe("[secret:KEY]");
    expect(mask.mask(JSON.stringify(lines.join("\n")))).toBe('"[secret:KEY]"');
    expect(mask.mask(lines.map((line, index) => `${index}: ${line}`).join("\n"))).toBe(
      "0: -----BEGIN PRIVATE KEY-----\n1: [secret:KEY]\n2: [secret:KEY]\n3: short",
    );
  });

  it("not what is too short, and names are made safe", () => {
    const mask = createMask([
      { value: "short", name: "A" },
      { value: "long-enough", name: 'a"b<c>' },
    ]);
    expect(mask.mask("short long-enough")).toBe("short [secret:a_b_c_]");
  });

  it("in the bytes of a program, whatever their encoding", () => {
    const mask = createMask([{ value: "pässwörd-日本", name: "P" }]);
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from("=pässwörd-日本=é")]);
    const masking = maskBytes(mask.stream());
    const out = [...bytes].map((byte) => masking.push(Uint8Array.of(byte)));
    expect(Buffer.concat([...out, masking.end()])).toEqual(
      Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from("=[secret:P]=é")]),
    );
  });
});

describe("a mask applied twice", () => {
  it("changes nothing, also where the name is the secret", () => {
    const mask = createMask([{ value: "lm-studio", name: "lm-studio" }]);
    expect(mask.mask(mask.mask("key lm-studio"))).toBe("key [secret:lm-studio]");
    expect(streamed(mask, [..."key [secret:lm-studio]"])).toBe("key [secret:lm-studio]");
  });
});

describe("an excerpt", () => {
  it("loses the beginning of a key where it was cut off", () => {
    expect(one.excerpt(`Wrong key: ${key.slice(0, 9)}`)).toBe("Wrong key: [secret:anthropic]");
    expect(one.excerpt(`Wrong key: ${key.slice(0, 9)}…`)).toBe("Wrong key: [secret:anthropic]…");
    expect(one.excerpt(`${key.slice(0, 14)}… more`)).toBe("[secret:anthropic]… more");
    expect(one.excerpt("It is sk-… and done")).toBe("It is sk-… and done");
    expect(one.excerpt(`It begins with ${key.slice(0, 9)}`, 12)).toBe(`It begins with ${key.slice(0, 9)}`);
  });
});

describe("a line", () => {
  it("stays JSON where a form lies across its syntax", () => {
    const mask = createMask([
      { value: '","b":"x', name: "A" },
      { value: "1234567890", name: "B" },
      { value: "nvapi-abcdef", name: "C" },
    ]);
    const value = { a: "", b: "x,", n: 1234567890, t: "\nvapi-abcdef 1234567890", "nvapi-abcdef": 'q","b":"x' };
    const line = mask.line(JSON.stringify(value));
    expect(JSON.parse(line)).toEqual({
      ...{ a: "", b: "x,", n: 1234567890, t: "\nvapi-abcdef [secret:B]" },
      "[secret:C]": "q[secret:A]",
    });
  });
});

describe("a value", () => {
  it("is masked within, also in a cycle, and is the same where nothing changes", () => {
    const clean = { a: [1, { b: "text" }], date: new Date(0) };
    expect(maskDeep(clean, one.mask)).toBe(clean);
    const cycle: Record<string, unknown> = { list: [key, clean] };
    cycle.self = cycle;
    expect(maskDeep(cycle, one.mask).list).toEqual(["[secret:anthropic]", clean]);
  });
});

// A small alphabet, so that secrets overlap, repeat and begin in each other.
const letters = fc.constantFrom("a", "b", "\\", '"', "%", "\n", "]", "\ud83d", "\ude00", "é", "n");
/** Secrets come from bytes, so they hold no half characters; the text around them may. */
const secret = fc
  .string({ unit: letters, minLength: 8, maxLength: 14 })
  .map((value) => Buffer.from(value).toString())
  .filter((value) => value.trim().length >= 8);
const secrets = fc.array(secret, { minLength: 1, maxLength: 4 });
const named = (values: readonly string[]) => values.map((value, index) => ({ value, name: `S${index}` }));

/** Text made of the secrets, of their parts, of their forms, and of other text. */
const textOf = (values: readonly string[]) =>
  fc
    .array(
      fc.oneof(
        fc.string({ unit: letters, maxLength: 6 }),
        fc.constantFrom(...values),
        fc.constantFrom(...values.map((value) => JSON.stringify(value).slice(1, -1))),
        fc.constantFrom(...values.map((value) => Buffer.from(`x${value}`).toString("base64"))),
        fc.tuple(fc.constantFrom(...values), fc.nat(14)).map(([value, end]) => value.slice(0, end)),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(""));

const scene = secrets.chain((values) => fc.record({ values: fc.constant(values), text: textOf(values) }));

describe("for any secrets and any text", () => {
  it("the pieces of a stream are the masked whole", () => {
    fc.assert(
      fc.property(scene, fc.array(fc.integer({ min: 1, max: 5 })), ({ values, text }, sizes) => {
        const mask = createMask(named(values));
        const pieces: string[] = [];
        for (let from = 0, index = 0; from < text.length; index++) {
          const size = sizes[index % Math.max(1, sizes.length)] ?? 1;
          pieces.push(text.slice(from, from + size));
          from += size;
        }
        expect(streamed(mask, pieces)).toBe(mask.mask(text));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("a second masking changes nothing", () => {
    fc.assert(
      fc.property(scene, ({ values, text }) => {
        const mask = createMask(named(values));
        expect(mask.mask(mask.mask(text))).toBe(mask.mask(text));
      }),
      { numRuns: runs(500) },
    );
  });

  it("a masked line is the line of the masked text", () => {
    fc.assert(
      fc.property(scene, ({ values, text }) => {
        const mask = createMask(named(values));
        expect(JSON.parse(mask.line(JSON.stringify({ text, n: 1 })))).toEqual({ text: mask.mask(text), n: 1 });
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("hostile text", () => {
  it("of beginnings of a long secret is masked in time, however it comes", () => {
    const value = `${"ab".repeat(1000)}!`;
    const mask = createMask([{ value, name: "L" }]);
    const text = "ab".repeat(20_000);
    expect(streamed(mask, text.match(/.{1,3}/g) ?? [])).toBe(text);
    const prefixes = "sk-ant-api03-".repeat(100_000);
    expect(streamed(one, prefixes.match(/.{1,7}/g) ?? [])).toBe(prefixes);
  });
});

it("holds nothing back and changes nothing without secrets", () => {
  const stream = noMask.stream();
  expect([stream.push("sk-ant"), stream.end(), noMask.line("{}"), noMask.excerpt("x")]).toEqual([
    "sk-ant",
    "",
    "{}",
    "x",
  ]);
});
