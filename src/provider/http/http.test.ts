import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { manualClock } from "../../testing/manual-clock.js";
import {
  cut,
  Gate,
  many,
  type Reply,
  raw,
  type ScriptedServer,
  stall,
  startScriptedServer,
} from "../../testing/scripted-server.js";
import { type GetRequest, getJson, mergeHeaders, postJson } from "./http.js";
import { EncodedJson } from "./json-body.js";

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(...script: Reply[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(script);
  servers.push(server);
  return server;
}

function post(url: string, { headers = {}, payload = {} as unknown, signal = new AbortController().signal } = {}) {
  return postJson({ url, headers, payload, signal, clock: systemClock });
}

const key = { authorization: "Bearer sk-secret" };

describe("postJson", () => {
  it("posts JSON and hands over the body unread", async () => {
    const server = await serve({ status: 200, headers: { "content-type": "text/event-stream" }, body: "data: x\n\n" });
    const answer = await post(`${server.url}/v1/x`, { headers: key, payload: { a: "ü" } });
    expect(answer.ok).toBe(true);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      path: "/v1/x",
      headers: { ...key, "content-type": "application/json", "accept-encoding": "identity" },
      body: { a: "ü" },
    });
  });

  it("repairs half surrogate pairs, and nothing else", async () => {
    const server = await serve({ status: 200 });
    await post(server.url, { payload: { cut: "a\ud83d", whole: "😀", told: "\\ud83d" } });
    expect(server.requests[0]?.body).toEqual({ cut: "a\ufffd", whole: "😀", told: "\\ud83d" });
  });

  it("refuses plain http except to this machine", async () => {
    await expect(post("http://example.com/v1")).rejects.toThrow(
      "Refused to send a request to http://example.com: only https is allowed, and plain http only to this machine.",
    );
    const named = { headers: {}, payload: {}, signal: new AbortController().signal, clock: systemClock };
    const urlSource = "ACME_BASE_URL";
    await expect(postJson({ ...named, url: "http://example.com/v1", urlSource })).rejects.toThrow(
      "Refused to send a request to http://example.com (from ACME_BASE_URL): only https is allowed",
    );
    await expect(postJson({ ...named, url: "nonsense", urlSource })).rejects.toThrow(
      "The model's baseUrl (from ACME_BASE_URL) is not a URL.",
    );
    await expect(post("http://127.0.0.1.example.com/")).rejects.toThrow("only https is allowed");
    await expect(post("ftp://127.0.0.1/")).rejects.toThrow("only https is allowed");
    await expect(post("nonsense")).rejects.toThrow("The model's baseUrl is not a URL.");
    await expect(post("https://me:hush@example.com/")).rejects.toThrow("must not hold a user name or a password");
  });

  it("follows a redirect within the origin, as the same POST", async () => {
    const server = await serve({ status: 308, headers: { location: "/v2" } }, { status: 200 });
    expect((await post(`${server.url}/v1`, { headers: key, payload: { a: 1 } })).ok).toBe(true);
    expect(server.requests[1]).toMatchObject({ method: "POST", path: "/v2", body: { a: 1 }, headers: key });
  });

  it("follows no redirect to another origin, so the key stays", async () => {
    const stranger = await serve();
    const server = await serve({ status: 307, headers: { location: `${stranger.url}/steal` } });
    await expect(post(server.url, { headers: key })).rejects.toThrow(
      `The service at ${server.url} redirected to another origin (${stranger.url}). ` +
        "Not followed: the prompt and the key are meant for the configured origin only.",
    );
    expect(stranger.requests).toEqual([]);
  });

  it("gives up on a circle of redirects", async () => {
    const loop: Reply = { status: 307, headers: { location: "/" } };
    const server = await serve(loop, loop, loop, loop);
    await expect(post(server.url)).rejects.toThrow("The service redirected 4 times.");
  });

  it("tells a refusal from the answer alone", async () => {
    const server = await serve({
      status: 429,
      headers: { "retry-after": "7" },
      body: '{"error":{"message":"slow down"}}',
    });
    const answer = await post(server.url, { headers: key });
    expect(answer).toEqual({
      ok: false,
      problem: { message: "HTTP 429: slow down", failure: { kind: "rate_limit", status: 429, retryAfterMs: 7000 } },
    });
  });

  it("reads how long to wait from the body and from the resets of limits", async () => {
    const wait = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "12s" };
    const quota = {
      code: 429,
      message: "You exceeded your current quota.",
      status: "RESOURCE_EXHAUSTED",
      details: [wait],
    };
    const server = await serve(
      { status: 429, headers: { "x-ratelimit-reset-requests": "3s" }, body: "slow down" },
      { status: 429, headers: { "retry-after": "7" }, body: JSON.stringify({ error: quota }) },
    );
    const failure = { kind: "rate_limit", status: 429 };
    expect(await post(server.url)).toMatchObject({ problem: { failure: { ...failure, retryAfterMs: 3000 } } });
    expect(await post(server.url)).toMatchObject({ problem: { failure: { ...failure, retryAfterMs: 12_000 } } });
  });

  it("reads only the head of an error, and takes a page for one", async () => {
    const server = await serve(
      { status: 500, body: "x".repeat(1_000_000) },
      { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Log in</h1>" },
    );
    expect(await post(server.url)).toMatchObject({ ok: false, problem: { failure: { kind: "server" } } });
    expect(await post(server.url)).toMatchObject({
      ok: false,
      problem: {
        message: "The service answered with a web page instead of a stream of events: <h1>Log in</h1>",
        failure: { kind: "invalid_request" },
      },
    });
  });

  it("tells what JSON in place of a stream says", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const error = { error: { message: "needs more GPU memory", type: "invalid_request_error" } };
    const busy = { error: { message: "try later", type: "overloaded_error" } };
    const server = await serve(
      { status: 200, headers, body: ` ${JSON.stringify(error)}` },
      { status: 200, headers, body: JSON.stringify(busy) },
      { status: 200, headers, body: '{"choices":[{"message":{"content":"whole"}}]}' },
      { status: 200, headers, body: "[".repeat(1_000_000) },
      { status: 200, headers, steps: [raw('{"error":{"mess'), cut] },
    );
    const problem = async () => {
      const answer = await post(server.url);
      return answer.ok ? undefined : answer.problem;
    };
    const noStream = (start: string) => ({
      message: expect.stringContaining(`answered with JSON instead of a stream of events: ${start}`) as string,
      failure: { kind: "invalid_request" },
    });
    expect(await problem()).toEqual({
      message: "invalid_request_error: needs more GPU memory",
      failure: { kind: "invalid_request", code: "invalid_request_error" },
    });
    expect(await problem()).toMatchObject({ failure: { kind: "overloaded" } });
    for (const start of ['{"choices":', "[[[["]) expect(await problem()).toEqual(noStream(start));
    await expect(problem()).rejects.toThrow("aborted"); // cut off, or given up by whoever waited
  });

  it("takes a stream for one, whatever it is called", async () => {
    const headers = { "content-type": "application/json" };
    const server = await serve({ status: 200, headers, steps: [raw("data: a\n\n"), raw("data: b\n\n")] });
    const answer = await post(server.url);
    let text = "";
    if (answer.ok) for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
    expect(text).toBe("data: a\n\ndata: b\n\n");
  });

  it("keeps the status of an error that was cut off", async () => {
    const server = await serve({ status: 503, steps: [raw("busy"), cut] });
    expect(await post(server.url)).toMatchObject({
      ok: false,
      problem: { message: "HTTP 503: busy", failure: { kind: "overloaded", status: 503 } },
    });
  });

  it("never quotes a header that cannot be sent", async () => {
    const error = await post("http://127.0.0.1:1/", { headers: { authorization: "Bearer sk-secret\nx" } }).catch(
      String,
    );
    expect(error).toContain("authorization");
    expect(error).not.toContain("sk-secret");
  });

  it("gives up on a connection that does not come about in 10 s", async () => {
    // The clock fires at once, before the loopback can have connected.
    const clock = {
      now: () => 0,
      after(_delayMs: number, callback: () => void) {
        callback();
        return () => {};
      },
    };
    const server = await serve();
    const attempt = postJson({
      url: server.url,
      headers: {},
      payload: {},
      signal: new AbortController().signal,
      clock,
    });
    await expect(attempt).rejects.toThrow(new GalleyError("timeout", "No connection to the service within 10 s."));
  });

  it("sends a long body byte by byte as a short one", async () => {
    const server = await serve({ status: 200 }, { status: 200 });
    for (const length of [10, 100_000]) {
      const list = Array.from({ length }, (_, index) => `ü${index}`);
      await post(server.url, { payload: { before: 1, list: new EncodedJson(Buffer.from(JSON.stringify(list))) } });
      expect(server.requests.at(-1)?.body).toEqual({ before: 1, list });
    }
  });

  it("stops when asked, before it begins and while it waits", async () => {
    const reason = new GalleyError("aborted", "Enough");
    const server = await serve({ steps: [stall], mayBeLeft: true });
    await expect(post(server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const late = new AbortController();
    const answer = await post(server.url, { signal: late.signal });
    late.abort(reason);
    await expect(answer.ok && answer.body[Symbol.asyncIterator]().next()).rejects.toThrow();
  });
});

describe("getJson", () => {
  const get = (url: string, more: Partial<GetRequest> = {}) =>
    getJson({ url, headers: {}, signal: new AbortController().signal, clock: systemClock, ...more });
  const json = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

  it("asks by GET, or by POST where there is something to send, and returns the value", async () => {
    const server = await serve(json({ a: ["ü"] }), json([1]));
    expect(await get(`${server.url}/x`, { headers: key })).toEqual({ ok: true, value: { a: ["ü"] } });
    expect(await get(`${server.url}/y`, { payload: { model: "m" } })).toEqual({ ok: true, value: [1] });
    const [first, second] = server.requests;
    expect(first).toMatchObject({ method: "GET", path: "/x", headers: { ...key, accept: "application/json" } });
    expect(first?.headers).not.toHaveProperty("content-length");
    expect(second).toMatchObject({ method: "POST", path: "/y", body: { model: "m" } });
  });

  it("holds to the rules of a POST", async () => {
    const stranger = await serve();
    const server = await serve(
      { status: 302, headers: { location: "/v2" } },
      json(1),
      { status: 302, headers: { location: `${stranger.url}/steal` } },
      { status: 401, body: '{"error":{"message":"no"}}' },
    );
    expect(await get(server.url)).toEqual({ ok: true, value: 1 });
    expect(server.requests[1]).toMatchObject({ method: "GET", path: "/v2" });
    await expect(get(server.url, { headers: key })).rejects.toThrow("redirected to another origin");
    expect(stranger.requests).toEqual([]);
    expect(await get(server.url)).toMatchObject({ ok: false, problem: { failure: { kind: "auth", status: 401 } } });
    await expect(get("http://example.com/")).rejects.toThrow("only https is allowed");
  });

  it("takes a page, a cut answer and one that is too large for what they are", async () => {
    const endless: Reply = { steps: [many(1_000_000, () => "[".repeat(1000))], mayBeLeft: true };
    const server = await serve({ status: 200, body: "<h1>Log in</h1>" }, endless, json("12345"), {
      steps: [raw('{"a":'), cut],
    });
    const message = async (more?: Partial<GetRequest>) => {
      const answer = await get(server.url, more);
      return answer.ok ? undefined : answer.problem.message;
    };
    expect(await message()).toBe("The service did not answer with JSON: <h1>Log in</h1>");
    expect(await message()).toBe("The service's answer is larger than 1048576 bytes.");
    expect(await message({ maxBytes: 6 })).toBe("The service's answer is larger than 6 bytes.");
    await expect(get(server.url)).rejects.toThrow("aborted");
  });

  it("waits no longer than it is told, before the answer and inside of it", async () => {
    for (const steps of [[], [raw("[1,")]]) {
      const gate = new Gate();
      const server = await serve({ steps: [...steps, gate.step], mayBeLeft: true });
      const clock = manualClock();
      const answer = get(server.url, { clock, timeoutMs: 700 });
      await gate.reached;
      clock.advance(700);
      await expect(answer).rejects.toThrow(
        new GalleyError("timeout", "The service timed out: no answer within 0.7 s."),
      );
      expect(clock.pendingTimers).toBe(0);
    }
  });
});

describe("headers", () => {
  it("merge without case, later first, trimmed", () => {
    expect(mergeHeaders({ Authorization: "a", "x-a": "1" }, undefined, { authorization: "b\n" })).toEqual({
      authorization: "b",
      "x-a": "1",
    });
  });
});
