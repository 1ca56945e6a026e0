import { afterEach, describe, expect, it } from "vitest";
import {
  comment,
  cut,
  Gate,
  many,
  type Reply,
  raw,
  type ScriptedServer,
  sse,
  stall,
  startScriptedServer,
} from "./scripted-server.js";

let server: ScriptedServer;
afterEach(() => server.close().catch(() => {})); // a mismatch was the point of the test

async function start(...script: Reply[]): Promise<string> {
  server = await startScriptedServer(script);
  return server.url;
}

const post = (url: string, body = "{}") => fetch(url, { method: "POST", body });

describe("the scripted server", () => {
  it("plays plain answers and streams, and records what it was asked", async () => {
    const url = await start(
      { status: 429, headers: { "retry-after": "7" }, body: "slow" },
      {
        steps: [
          sse({ a: 1 }, "x"),
          sse("two\nlines"),
          comment("c"),
          raw("data: z\n\n"),
          many(2, (index) => `${index}`),
        ],
      },
    );
    const refused = await post(`${url}/a`, '{"q":1}');
    expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([429, "7", "slow"]);
    const streamed = await post(`${url}/b`, "no json");
    expect(streamed.headers.get("content-type")).toBe("text/event-stream");
    expect(await streamed.text()).toBe('event: x\ndata: {"a":1}\n\ndata: two\ndata: lines\n\n: c\n\ndata: z\n\n01');
    expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/a", { q: 1 }],
      ["POST", "/b", "no json"],
    ]);
    await server.close();
  });

  it("waits at a gate", async () => {
    const gate = new Gate();
    const reader = (await post(await start({ steps: [raw("a"), gate.step, raw("b")] }))).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("a");
    await gate.reached;
    gate.open();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("b");
    await server.close();
  });

  it("cuts and stalls", async () => {
    const url = await start({ steps: [raw("a"), cut] }, { steps: [raw("a"), stall] });
    await expect(post(url).then((answer) => answer.text())).rejects.toThrow();
    const abort = new AbortController();
    await fetch(url, { method: "POST", body: "{}", signal: abort.signal });
    abort.abort();
    await server.requests[1]?.closed;
    await server.close();
  });

  it("honours a client that stops reading", async () => {
    let made = 0;
    const piece = (): string => {
      made += 1;
      return "x".repeat(65_536);
    };
    const answer = await post(await start({ steps: [many(1000, piece)] }));
    const half = made;
    expect(half).toBeLessThan(1000); // 64 MiB fit into no socket buffer
    expect((await answer.text()).length).toBe(65_536_000);
    await server.close();
  });

  it("fails on requests beyond the script", async () => {
    const url = await start();
    expect((await post(url)).status).toBe(500);
    expect(() => server.verify()).toThrow("request 1 (POST /) is beyond the script");
    await expect(server.close()).rejects.toThrow("beyond the script");
  });

  it("fails on replies that were never requested", async () => {
    await start({ status: 200 });
    await expect(server.close()).rejects.toThrow("1 of 1 scripted replies were never asked for");
  });

  it("fails on steps that were not played, unless they may be left", async () => {
    const gate = new Gate();
    const steps = [raw("a"), gate.step, raw("b")];
    await post(await start({ steps }));
    await expect(server.close()).rejects.toThrow("reply 1 stopped after 1 of 3 steps");
    await post(await start({ steps, mayBeLeft: true }));
    await server.close();
  });
});
