import { expect, it } from "vitest";
import { forwardedHeaders } from "./forwarded-headers.js";

const of = (raw: string[], host?: string) =>
  forwardedHeaders(raw, { isRequest: host !== undefined, ...(host && { host }) });

it("passes on what is for the other end, in order and as often as it came", () => {
  expect(of(["Set-Cookie", "a", "X-B", "1", "set-cookie", "b"])).toEqual([
    "Set-Cookie",
    "a",
    "X-B",
    "1",
    "set-cookie",
    "b",
  ]);
});

it.each(["Connection", "Keep-Alive", "Proxy-Authorization", "proxy-connection", "TE", "Trailer", "Upgrade", "Expect"])(
  "keeps %s to the connection",
  (name) => expect(of([name, "x", "X-B", "1"])).toEqual(["X-B", "1"]),
);

it("keeps what Connection names, but for the length of the body", () => {
  expect(of(["Connection", "X-A, content-length", "X-A", "1", "Content-Length", "5"])).toEqual(["Content-Length", "5"]);
});

it("names the host that was checked, once", () => {
  expect(of(["Host", "evil.example", "host", "other.example", "X-B", "1"], "a.example")).toEqual([
    ...["Host", "a.example", "X-B", "1", "Connection", "close"],
  ]);
});

it("says once how the body of a request is framed", () => {
  expect(of(["Transfer-Encoding", "chunked", "Content-Length", "5"], "a.example")).toEqual([
    ...["Host", "a.example", "Transfer-Encoding", "chunked", "Connection", "close"],
  ]);
  expect(of(["Transfer-Encoding", "chunked"])).toEqual([]);
});
