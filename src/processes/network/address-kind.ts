// What an address leads to: the open network, or a machine that only this one can reach. An address that is in no table of
// public ones is not public. Pure.

import { isIPv4, isIPv6 } from "node:net";
import { canonicalIPv6 } from "./host.js";

/**
 * `link-local` includes the addresses at which clouds hand out credentials. `unusable`: no single machine, or one that the
 * address does not name (0.0.0.0 is this one).
 */
export type AddressKind = "public" | "private" | "loopback" | "link-local" | "unusable";

/** The first range that fits counts; what is in none is public. */
const ranges4: readonly (readonly [string, number, AddressKind])[] = [
  ["168.63.129.16", 32, "link-local"],
  ["100.100.100.200", 32, "link-local"],
  ["192.0.0.192", 32, "link-local"],
  ["0.0.0.0", 8, "unusable"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "unusable"],
  ["192.0.2.0", 24, "unusable"],
  ["192.88.99.0", 24, "unusable"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "private"],
  ["198.51.100.0", 24, "unusable"],
  ["203.0.113.0", 24, "unusable"],
  ["224.0.0.0", 3, "unusable"],
];

/** `inner`: where the IPv4 address begins that it stands for. What is in none is unusable. */
const ranges6: readonly (readonly [string, number, AddressKind | { readonly inner: number }])[] = [
  ["::1", 128, "loopback"],
  ["::", 128, "unusable"],
  ["::ffff:0:0", 96, { inner: 12 }],
  ["::", 96, { inner: 12 }],
  ["64:ff9b::", 96, { inner: 12 }],
  ["64:ff9b:1::", 48, "private"],
  ["2002::", 16, { inner: 2 }],
  ["2001::", 23, "unusable"],
  ["2001:db8::", 32, "unusable"],
  ["3fff::", 20, "unusable"],
  ["fd00:ec2::254", 128, "link-local"],
  ["fd20:ce::254", 128, "link-local"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "private"],
  ["fc00::", 7, "private"],
  ["2000::", 3, "public"],
];

/** Of an address as a lookup answers it or as `parseHost` writes it. What is no address is unusable. */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) return kindOf4(bytesOf4(address));
  if (address.includes("%") || !isIPv6(address)) return "unusable";
  const bytes = bytesOf6(address);
  for (const [start, bits, kind] of ranges6) {
    if (!isInRange(bytes, bytesOf6(start), bits)) continue;
    return typeof kind === "string" ? kind : kindOf4(bytes.slice(kind.inner, kind.inner + 4));
  }
  return "unusable";
}

function kindOf4(bytes: readonly number[]): AddressKind {
  return ranges4.find(([start, bits]) => isInRange(bytes, bytesOf4(start), bits))?.[2] ?? "public";
}

function isInRange(bytes: readonly number[], start: readonly number[], bits: number): boolean {
  return start.every((byte, index) => {
    const wanted = Math.min(8, Math.max(0, bits - index * 8));
    const mask = 0xff & (0xff << (8 - wanted));
    return (byte & mask) === ((bytes[index] ?? 0) & mask);
  });
}

function bytesOf4(address: string): number[] {
  return address.split(".").map(Number);
}

/** The shortest form has no dotted part. */
function bytesOf6(address: string): number[] {
  const [head = "", tail] = canonicalIPv6(address).split("::");
  const groups = (part: string | undefined) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const first = groups(head);
  const last = groups(tail);
  const gap = Array<number>(tail === undefined ? 0 : 8 - first.length - last.length).fill(0);
  return [...first, ...gap, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}
