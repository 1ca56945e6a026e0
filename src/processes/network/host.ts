// What a program or a setting may write for a host, and its one canonical form. Everything with a second reading is refused,
// so that what is compared with the allow list is what is dialled. Pure.

import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";

/** `text`: a name in lower case, or an address in its shortest form without brackets. */
export interface Host {
  readonly kind: "name" | "address";
  readonly text: string;
}

export interface Target {
  readonly host: Host;
  readonly port: number;
}

const maxName = 253;

/**
 * Undefined for anything but a plain ASCII name, a dotted IPv4 address or an IPv6 address in brackets. So no trailing dot,
 * no percent, no blank, no control character, no decimal, octal or hexadecimal address, no zone.
 */
export function parseHost(text: string): Host | undefined {
  if (text.length > maxName) return undefined;
  if (text.startsWith("[")) return parseBracketed(text);
  const name = text.toLowerCase();
  if (isIPv4(name)) return { kind: "address", text: name };
  const labels = name.split(".");
  // Programs read what ends in a number as an address: 2130706433, 0x7f.1, 0177.0.0.1.
  if (!labels.every(isLabel) || /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")) return undefined;
  // Some versions of Node leave as it is what is no valid encoding of an international name.
  if (labels.some((label) => label.startsWith("xn--") && !isEncoding(label))) return undefined;
  return domainToASCII(name) === name ? { kind: "name", text: name } : undefined;
}

function isEncoding(label: string): boolean {
  const decoded = domainToUnicode(label);
  return decoded !== label && domainToASCII(decoded) === label;
}

/** An international name becomes its ASCII form. For people's own settings: in requests only ASCII occurs. */
export function parseWrittenHost(text: string): Host | undefined {
  if (/^[\x20-\x7e]*$/.test(text)) return parseHost(text);
  if (text.length > maxName) return undefined;
  // Characters that the conversion would decode, drop or take for the end of the name.
  if (/[\s\p{Cc}\p{Cf}%@:/\\?#[\]]/u.test(text)) return undefined;
  const host = parseHost(domainToASCII(text));
  return host?.kind === "name" ? host : undefined;
}

/** `host:port`, or `host` where `usualPort` is given. `user@` is refused with everything else that is no host. */
export function parseTarget(authority: string, usualPort?: number): Target | undefined {
  const [, hostText = "", portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  const host = parseHost(hostText);
  const port = portText === undefined ? usualPort : parsePort(portText);
  return host === undefined || port === undefined ? undefined : { host, port };
}

export function parsePort(text: string): number | undefined {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** As people and settings write it: `registry.example:443`, `[::1]:80`. */
export function targetText({ host, port }: Target): string {
  return `${hostText(host)}:${port}`;
}

export function hostText({ text }: Host): string {
  return text.includes(":") ? `[${text}]` : text;
}

function parseBracketed(text: string): Host | undefined {
  const address = text.slice(1, -1);
  if (!text.endsWith("]") || address.includes("%") || !isIPv6(address)) return undefined;
  return { kind: "address", text: canonicalIPv6(address) };
}

/** The URL parser knows the shortest form. */
export function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function isLabel(label: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
}
