import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostText, parseHost, parsePort, parseTarget, parseWrittenHost, targetText } from "./host.js";

describe("parseHost", () => {
  it.each([
    ["registry.example", "registry.example"],
    ["REGISTRY.Example", "registry.example"],
    ["a_b.example", "a_b.example"],
    ["r3---sn-x.example", "r3---sn-x.example"],
    ["localhost", "localhost"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["127.0.0.1", "127.0.0.1"],
    ["[::1]", "::1"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["[2606:2800:220:1:248:1893:25C8:1946]", "2606:2800:220:1:248:1893:25c8:1946"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
  ])("reads %s", (text, canonical) => expect(parseHost(text)?.text).toBe(canonical));

  it.each([
    ["nothing", ""],
    ["a trailing dot", "registry.example."],
    ["a leading dot", ".registry.example"],
    ["two dots", "registry..example"],
    ["percent", "registry%2eexample"],
    ["NUL", "registry.example\0.evil"],
    ["CR", "registry.example\r"],
    ["LF", "registry.example\n"],
    ["a blank", "registry.example "],
    ["a tab", "\tregistry.example"],
    ["user@", "registry.example@evil.example"],
    ["a path", "registry.example/x"],
    ["a backslash", "registry.example\\x"],
    ["a port", "registry.example:80"],
    ["a star", "*.example"],
    ["a decimal address", "2130706433"],
    ["a hexadecimal address", "0x7f000001"],
    ["a hexadecimal part", "127.0.0.0x1"],
    ["0x alone", "a.0x"],
    ["octal parts", "0177.0.0.1"],
    ["a leading zero", "127.0.0.01"],
    ["a short address", "127.1"],
    ["too many parts", "127.0.0.0.1"],
    ["a part over 255", "256.0.0.1"],
    ["a name that ends in a number", "registry.1"],
    ["an address with a dot", "127.0.0.1."],
    ["bare IPv6", "::1"],
    ["a zone", "[fe80::1%eth0]"],
    ["an encoded zone", "[fe80::1%25eth0]"],
    ["an open bracket", "[::1"],
    ["empty brackets", "[]"],
    ["IPv4 in brackets", "[127.0.0.1]"],
    ["full-width digits", "１２７.0.0.1"],
    ["another script", "bücher.example"],
    ["a wrong encoding", "xn--a.example"],
    ["an encoding of plain letters", "xn--a-.example"],
    ["a hyphen at an end", "-a.example"],
    ["a label of 64", `${"a".repeat(64)}.example`],
    ["254 characters", `${"a.".repeat(124)}aaaaaa`],
  ])("refuses %s", (_, text) => expect(parseHost(text)).toBeUndefined());

  it("gives one form, which it reads as itself", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.domain(),
          fc.ipV4(),
          fc.ipV6().map((text) => `[${text}]`),
        ),
        (text) => {
          const host = parseHost(text);
          if (host === undefined) return;
          expect(parseHost(hostText(host))).toEqual(host);
          expect(host.text).toMatch(/^[a-z0-9._:-]+$/);
        },
      ),
    );
  });
});

it("parseWrittenHost reads international names as people write them", () => {
  expect(parseWrittenHost("bücher.example")).toEqual({ kind: "name", text: "xn--bcher-kva.example" });
  expect(parseWrittenHost("BÜCHER.example")).toEqual({ kind: "name", text: "xn--bcher-kva.example" });
  for (const text of [
    "１２７.0.0.1",
    "bü cher.example",
    "bü%63her.example",
    "ü\u200d.example",
    "ü。",
    "ü\0.example",
    "ü/x",
  ])
    expect(parseWrittenHost(text)).toBeUndefined();
});

it("parseTarget reads a host with its port", () => {
  const texts = (authority: string, usualPort?: number) => {
    const target = parseTarget(authority, usualPort);
    return target && targetText(target);
  };
  expect(texts("A.example:443")).toBe("a.example:443");
  expect(texts("[::1]:80")).toBe("[::1]:80");
  expect(texts("a.example", 80)).toBe("a.example:80");
  for (const authority of ["a.example", "a.example:", "user@a.example:80", "user:x@a.example:80", "a:b:80", "::1:80"])
    expect(texts(authority)).toBeUndefined();
  expect(texts("a.example:", 80)).toBeUndefined();
});

it.each(["0", "00", "080", "65536", "-1", "+80", "8e1", " 80", "80 ", "", "0x50", "99999999999"])(
  "parsePort refuses %j",
  (text) => expect(parsePort(text)).toBeUndefined(),
);
