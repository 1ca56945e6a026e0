import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { type HostEntry, isCovered, isHostEntry, isListed, mayDial, parseHostEntry } from "./allow-list.js";
import { parseTarget, type Target } from "./host.js";

function entries(...texts: string[]): HostEntry[] {
  return texts.map((text) => {
    const entry = parseHostEntry(text);
    if (!isHostEntry(entry)) throw new Error(`${text}: ${entry.expected}`);
    return entry;
  });
}

function target(text: string): Target {
  const found = parseTarget(text);
  if (found === undefined) throw new Error(text);
  return found;
}

const host = "a host: a name, *.suffix or an address, with :port or without";
const port = "a port behind a host on this machine or its network, such as localhost:5432";

describe("an entry", () => {
  it.each([
    ["registry.example", { host: { kind: "name", text: "registry.example" }, isSuffix: false }],
    ["Registry.Example:8443", { host: { kind: "name", text: "registry.example" }, isSuffix: false, port: 8443 }],
    ["*.bücher.example", { host: { kind: "name", text: "xn--bcher-kva.example" }, isSuffix: true }],
    ["localhost:5432", { host: { kind: "name", text: "localhost" }, isSuffix: false, port: 5432 }],
    ["[::1]:5432", { host: { kind: "address", text: "::1" }, isSuffix: false, port: 5432 }],
    ["1.1.1.1", { host: { kind: "address", text: "1.1.1.1" }, isSuffix: false }],
    ["169.254.169.254:80", { host: { kind: "address", text: "169.254.169.254" }, isSuffix: false, port: 80 }],
  ])("%s is read", (text, entry) => expect(parseHostEntry(text)).toEqual(entry));

  it.each([
    ...["", "*", "*.", "*.*.example", "a.*.example", "*example", "https://a.example", "a.example/x", "a example"],
    ...["a.example%00", "a\0.example", "a.example.", "user@a.example", "a.example:", "a.example:0", "a.example:http"],
    ...["a.example:*", "*.1.2.3.4", "*.[::1]", "::1", "2130706433:80", "0x7f000001:80", "a.example:80:80"],
  ])("%j is refused", (text) => expect(parseHostEntry(text)).toEqual({ expected: host }));

  it.each(["localhost", "*.localhost", "127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]"])(
    "%s needs a port",
    (text) => expect(parseHostEntry(text)).toEqual({ expected: port }),
  );

  it.each(["0.0.0.0:80", "[::]:80", "224.0.0.1:80", "255.255.255.255:80"])("%s is no machine", (text) =>
    expect(parseHostEntry(text)).toEqual({ expected: "the address of one machine" }),
  );
});

describe("the allow list (B-7)", () => {
  it.each([
    ["a.example", "a.example:443", true],
    ["a.example", "a.example:80", true],
    ["a.example", "A.EXAMPLE:443", true],
    ["a.example", "a.example:8443", false],
    ["a.example:8443", "a.example:8443", true],
    ["a.example:8443", "a.example:443", false],
    ["a.example", "b.a.example:443", false],
    ["*.a.example", "b.a.example:443", true],
    ["*.a.example", "c.b.a.example:443", true],
    ["*.a.example", "a.example:443", false],
    ["*.a.example", "ba.example:443", false],
    ["*.a.example", "xa.example:443", false],
    ["localhost:5432", "localhost:5432", true],
    ["localhost:5432", "localhost:80", false],
    ["localhost:5432", "127.0.0.1:5432", false],
    ["127.0.0.1:5432", "[::ffff:127.0.0.1]:5432", false],
    ["[::1]:80", "[0:0::1]:80", true],
  ])("with %s, %s: %s", (entry, text, expected) => expect(isListed(entries(entry), target(text))).toBe(expected));

  it("opens no address that no entry names", () => {
    const list = entries("a.example", "b.example:5432", "10.1.2.3:443", "localhost:5432", "[fd00::1]:443");
    const may = (name: string, address: string) => mayDial(list, target(name), address);
    expect(may("a.example:443", "93.184.216.34")).toBe(true);
    expect(may("a.example:443", "10.1.2.3")).toBe(true); // named besides
    expect(may("a.example:443", "fd00:0::1")).toBe(true);
    expect(may("a.example:80", "10.1.2.3")).toBe(false);
    for (const address of [
      "10.1.2.4",
      "127.0.0.1",
      "169.254.169.254",
      "::1",
      "::ffff:10.1.2.3",
      "0.0.0.0",
      "224.0.0.1",
      "x",
    ])
      expect([address, may("a.example:443", address)]).toEqual([address, false]);
    expect(may("b.example:5432", "127.0.0.1")).toBe(false); // its own port does not make it local
    expect(may("localhost:5432", "127.0.0.1")).toBe(true);
    expect(may("localhost:5432", "10.1.2.4")).toBe(false);
  });

  it("matches as a plain model does", () => {
    const labels = fc.constantFrom("a", "b", "ab", "example", "org");
    const name = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
    const port = fc.constantFrom(undefined, 80, 443, 8080);
    const entry = fc.record({ star: fc.boolean(), name, port });
    const text = (it: { star: boolean; name: string; port: number | undefined }) =>
      `${it.star ? "*." : ""}${it.name}${it.port === undefined ? "" : `:${it.port}`}`;
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 4 }), name, fc.constantFrom(80, 443, 8080), (list, wanted, at) => {
        // All that an entry means, written out: every name below it up to the longest that occurs.
        const isMeant = list.some((it) => {
          const parts = wanted.split(".");
          const parents = parts.slice(1).map((_, index) => parts.slice(index + 1).join("."));
          const names = it.star ? parents : [wanted];
          return names.includes(it.name) && (it.port === undefined ? at === 80 || at === 443 : at === it.port);
        });
        expect(isListed(entries(...list.map(text)), target(`${wanted}:${at}`))).toBe(isMeant);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("a covered entry matches nothing that the list does not match", () => {
    const name = fc.constantFrom("example", "a.example", "b.a.example", "ab.example", "x.b.a.example");
    const port = fc.constantFrom("", ":80", ":443", ":8080");
    const entry = fc.tuple(fc.constantFrom("", "*."), name, port).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        entry,
        fc.array(entry, { maxLength: 3 }),
        name,
        fc.constantFrom(80, 443, 8080),
        (narrow, wide, at, number) => {
          const [one] = entries(narrow) as [HostEntry];
          const list = entries(...wide);
          const wanted = target(`${at}:${number}`);
          if (isCovered(one, list) && isListed([one], wanted)) expect(isListed(list, wanted)).toBe(true);
        },
      ),
      { numRuns: runs(1000) },
    );
    expect(isCovered(...covers("a.example", "*.example"))).toBe(true);
    expect(isCovered(...covers("*.a.example", "*.example"))).toBe(true);
    expect(isCovered(...covers("*.example", "*.example"))).toBe(true);
    expect(isCovered(...covers("*.example", "*.a.example"))).toBe(false);
    expect(isCovered(...covers("example", "*.example"))).toBe(false);
    expect(isCovered(...covers("a.example", "a.example:443"))).toBe(false);
    expect(isCovered(...covers("a.example", "a.example:443", "a.example:80"))).toBe(true);
    expect(isCovered(...covers("*.a.example", "a.example"))).toBe(false);
  });
});

function covers(narrow: string, ...wide: string[]): [HostEntry, HostEntry[]] {
  return [entries(narrow)[0] as HostEntry, entries(...wide)];
}

it("parses or refuses whatever it is given", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
      (text) => {
        const entry = parseHostEntry(text);
        if (isHostEntry(entry)) expect(entry.host.text).toMatch(/^[a-z0-9._:-]+$/);
        else expect(entry.expected).toBeTruthy();
      },
    ),
  );
});
