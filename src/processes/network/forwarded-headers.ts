// The headers that a proxy passes on: all but those that speak about one connection, in the order in which they came. Pure.

const ofOneConnection: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * `raw`: names and values in turn, as Node has them. Of a request the host is what was checked, whatever its own header says,
 * and a chunked body stays chunked: without a length it would run on into what the server takes for the next request.
 */
export function forwardedHeaders(
  raw: readonly string[],
  { isRequest, host }: { isRequest: boolean; host?: string },
): string[] {
  const pairs = pairsOf(raw);
  const valuesOf = (wanted: string) =>
    pairs.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  const named = valuesOf("connection").flatMap((value) => value.split(",").map((word) => word.trim().toLowerCase()));
  const dropped = new Set([...ofOneConnection, ...named]);
  // What frames the body is not for a program to hide.
  dropped.delete("content-length");
  const isChunked = isRequest && valuesOf("transfer-encoding").length > 0;
  if (isChunked) dropped.add("content-length");
  if (host !== undefined) dropped.add("host");
  const kept = pairs.filter(([name]) => !dropped.has(name.toLowerCase()));
  return [
    ...(host === undefined ? [] : ["Host", host]),
    ...kept.flat(),
    ...(isChunked ? ["Transfer-Encoding", "chunked"] : []),
    ...(isRequest ? ["Connection", "close"] : []),
  ];
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return pairs;
}
