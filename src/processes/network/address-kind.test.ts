import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressKind } from "./address-kind.js";

describe("addressKind", () => {
  it.each([
    [
      "public",
      ["93.184.216.34", "1.1.1.1", "172.32.0.1", "172.15.255.255", "2606:2800:220:1::1", "2001:4860:4860::8888"],
    ],
    [
      "private",
      [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "198.18.0.1",
        "fc00::1",
        "fd12::1",
        "fec0::1",
        "64:ff9b:1::1",
      ],
    ],
    [
      "loopback",
      ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"],
    ],
    [
      "link-local",
      [
        "169.254.169.254",
        "169.254.0.1",
        "fe80::1",
        "febf::1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
      ],
    ],
    [
      "unusable",
      [
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.2.1",
        "203.0.113.9",
        "::",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "4000::1",
        "fe80::1%eth0",
        "localhost",
        "",
        "127.1",
      ],
    ],
  ])("%s", (kind, addresses) => {
    for (const address of addresses) expect([address, addressKind(address)]).toEqual([address, kind]);
  });

  it("agrees with the system's own table of ranges", () => {
    const closed = new BlockList();
    for (const [start, bits] of [
      ["0.0.0.0", 8],
      ["10.0.0.0", 8],
      ["100.64.0.0", 10],
      ["127.0.0.0", 8],
      ["169.254.0.0", 16],
      ["172.16.0.0", 12],
      ["192.0.0.0", 24],
      ["192.0.2.0", 24],
      ["192.88.99.0", 24],
      ["192.168.0.0", 16],
      ["198.18.0.0", 15],
      ["198.51.100.0", 24],
      ["203.0.113.0", 24],
      ["224.0.0.0", 3],
      ["168.63.129.16", 32],
    ] as const)
      closed.addSubnet(start, bits);
    const edges = [0, 8, 9, 10, 11, 63, 64, 99, 100, 126, 127, 128, 168, 169, 172, 192, 198, 203, 223, 224, 254, 255];
    const byte = fc.oneof(fc.constantFrom(...edges), fc.nat(255));
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), (bytes) => {
        const address = bytes.join(".");
        expect([address, addressKind(address) !== "public"]).toEqual([address, closed.check(address)]);
        expect([address, addressKind(`::ffff:${address}`)]).toEqual([address, addressKind(address)]);
      }),
      { numRuns: 2000 },
    );
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(addressKind(text)).toBe("unusable")));
  });
});
