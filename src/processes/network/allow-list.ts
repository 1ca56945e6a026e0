// The hosts that commands may reach: entries as the setting `bash.hosts` has them, and what they match. Pure. Machines that
// only this one can reach are matched by entries that name them with a port, and by no others.

import { addressKind } from "./address-kind.js";
import { type Host, parseHost, parsePort, parseWrittenHost, type Target } from "./host.js";

export interface HostEntry {
  readonly host: Host;
  /** `*.example`: every name below `example`, not `example` itself. */
  readonly isSuffix: boolean;
  /** Absent: 80 and 443. */
  readonly port?: number;
}

const usualPorts: readonly number[] = [80, 443];

const expectedHost = "a host: a name, *.suffix or an address, with :port or without";
const expectedPort = "a port behind a host on this machine or its network, such as localhost:5432";
const expectedUsable = "the address of one machine";

export function parseHostEntry(text: string): HostEntry | { readonly expected: string } {
  const [, star, hostText = "", portText] = /^(\*\.)?(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const isSuffix = star !== undefined;
  const host = parseWrittenHost(hostText);
  const port = portText === undefined ? undefined : parsePort(portText);
  const isHost = host !== undefined && !(isSuffix && host.kind === "address");
  if (!isHost || (portText !== undefined && port === undefined)) return { expected: expectedHost };
  if (isUnusable(host)) return { expected: expectedUsable };
  if (port === undefined && isSpecial(host)) return { expected: expectedPort };
  return { host, isSuffix, ...(port !== undefined && { port }) };
}

export function isHostEntry(entry: ReturnType<typeof parseHostEntry>): entry is HostEntry {
  return "host" in entry;
}

export function isListed(entries: readonly HostEntry[], { host, port }: Target): boolean {
  return entries.some((entry) => portsOf(entry).includes(port) && matches(entry, host));
}

/**
 * Whether a listed target may be dialled at this address, which its name has. The answer of a name server cannot open what
 * the user has not named: `10.1.2.3:443` must be listed besides the name that leads there.
 */
export function mayDial(entries: readonly HostEntry[], { host, port }: Target, address: string): boolean {
  const kind = addressKind(address);
  if (kind === "public") return true;
  if (kind === "unusable") return false;
  if (kind === "loopback" && isLocalName(host)) return true;
  const named = parseHost(address.includes(":") ? `[${address}]` : address);
  return named !== undefined && isListed(entries, { host: named, port });
}

/** Everything that `narrow` matches is matched by one of `wide`. */
export function isCovered(narrow: HostEntry, wide: readonly HostEntry[]): boolean {
  return portsOf(narrow).every((port) =>
    wide.some((entry) => {
      if (!portsOf(entry).includes(port)) return false;
      if (narrow.isSuffix && entry.isSuffix && narrow.host.text === entry.host.text) return true;
      return (entry.isSuffix || !narrow.isSuffix) && matches(entry, narrow.host);
    }),
  );
}

/** `localhost` and what is below it are this machine, whatever a name server says. */
export function isLocalName({ kind, text }: Host): boolean {
  return kind === "name" && (text === "localhost" || text.endsWith(".localhost"));
}

function matches(entry: HostEntry, host: Host): boolean {
  if (entry.host.kind !== host.kind) return false;
  return entry.isSuffix ? host.text.endsWith(`.${entry.host.text}`) : host.text === entry.host.text;
}

function portsOf({ port }: HostEntry): readonly number[] {
  return port === undefined ? usualPorts : [port];
}

function isSpecial(host: Host): boolean {
  return host.kind === "address" ? addressKind(host.text) !== "public" : isLocalName(host);
}

function isUnusable({ kind, text }: Host): boolean {
  return kind === "address" && addressKind(text) === "unusable";
}
