import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { manualClock } from "../../testing/manual-clock.js";
import type { HostAnswer } from "./admission.js";
import {
  answerOf,
  exchange,
  httpServer,
  openGate,
  publicAddress,
  tcpServer,
  testNetwork,
  until,
} from "./network.test-kit.js";

const names = { "a.example": [publicAddress], "b.a.example": ["2606:2800:220:1::1", publicAddress] };

function get(url: string, headers = ""): string {
  return `GET ${url} HTTP/1.1\r\nHost: ignored.example\r\n${headers}\r\n`;
}

function connectTo(authority: string): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
}

async function opened(
  hosts: readonly string[],
  more: { names?: Record<string, string[]>; decide?: (host: string) => Promise<HostAnswer> } = {},
) {
  const requests: { url: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
  const server = await httpServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      requests.push({ url: `${request.method} ${request.url}`, headers: request.headers, body });
      response.setHeader("X-Two", ["1", "2"]);
      response.end("reached");
    });
  });
  const network = testNetwork({ ...names, ...more.names }, server);
  const gate = await openGate({ hosts, network, ...(more.decide && { decide: more.decide }) });
  return { ...gate, network, requests };
}

describe("a listed host", () => {
  it("is reached by an absolute address, at the address that was checked, under its own name", async () => {
    const { port, network, requests, gate } = await opened(["a.example"]);
    const text = await exchange(
      port,
      get(
        "http://A.example/x?y=1",
        "Proxy-Authorization: Basic x\r\nX-Kept: yes\r\nConnection: x-gone\r\nX-Gone: 1\r\n",
      ),
    );
    expect(answerOf(text)).toEqual({ status: 200, body: expect.stringContaining("reached") });
    expect(text).toContain("X-Two: 1\r\nX-Two: 2\r\n");
    expect(network.dials).toEqual([`${publicAddress}:80`]);
    expect(requests).toEqual([
      { url: "GET /x?y=1", headers: { host: "a.example", "x-kept": "yes", connection: "close" }, body: "" },
    ]);
    expect(gate.blocked()).toEqual([]);
  });

  it.each(["POST", "GET"])("gets a chunked body of %s chunked", async (method) => {
    const { port, requests } = await opened(["a.example:8080"]);
    const head = `${method} http://a.example:8080 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(answerOf(await exchange(port, `${head}5\r\nhello\r\n0\r\n\r\n`)).status).toBe(200);
    expect(requests).toMatchObject([
      { url: `${method} /`, body: "hello", headers: { host: "a.example:8080", "transfer-encoding": "chunked" } },
    ]);
  });

  it("is reached by CONNECT, and what comes with the request is passed on", async () => {
    const { port, network } = await opened(["*.a.example"]);
    const inner = "GET /t HTTP/1.1\r\nHost: b.a.example\r\nConnection: close\r\n\r\n";
    const text = await exchange(port, connectTo("b.a.example:443") + inner);
    expect(text).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK.*reached/s);
    expect(network.dials).toEqual(["2606:2800:220:1::1:443"]);
  });

  it("may end its request first and still read the answer", async () => {
    const server = await tcpServer((socket) => {
      let got = "";
      socket.on("data", (chunk) => (got += chunk));
      socket.on("end", () => socket.end(`got ${got}`));
    });
    const { port } = await openGate({ hosts: ["a.example"], network: testNetwork(names, server) });
    expect(await exchange(port, `${connectTo("a.example:443")}hello`, { endsFirst: true })).toMatch(/got hello$/);
  });

  it("gets all that was sent, also if it reads slowly and the program is gone", async () => {
    const received: string[] = [];
    let release = () => {};
    const slow = new Duplex({
      read() {
        this.push(null);
      },
      write(chunk, _encoding, done) {
        received.push(String(chunk));
        release = done;
      },
    });
    const connectSlow = () => {
      setImmediate(() => slow.emit("connect"));
      return slow as Socket;
    };
    const network = { ...testNetwork(names), connect: connectSlow };
    const { port, closed } = await openGate({ hosts: ["a.example"], network });
    const ended = new Promise((resolve) =>
      slow.once("finish", () => resolve("all")).once("close", () => resolve("cut")),
    );
    await exchange(port, `${connectTo("a.example:443")}one`, { endsFirst: true });
    await until(() => closed() === 1);
    await new Promise((resolve) => setImmediate(resolve)); // the proxy hears of it too
    release();
    expect([await ended, received.join("")]).toEqual(["all", "one"]);
  });

  it("is tried at its next address where one does not answer", async () => {
    const server = await httpServer((_request, response) => response.end("reached"));
    const network = testNetwork(names, server);
    const connectFirst = network.connect;
    const dead = testNetwork({});
    let isFirst = true;
    network.connect = (address, port) => {
      const { connect } = isFirst ? { connect: dead.connect } : { connect: connectFirst };
      isFirst = false;
      return connect(address, port);
    };
    const { port } = await openGate({ hosts: ["*.a.example"], network });
    expect(answerOf(await exchange(port, get("http://b.a.example/"))).status).toBe(200);
    expect([dead.dials, network.dials]).toEqual([["2606:2800:220:1::1:80"], [`${publicAddress}:80`]]);
  });

  it("that does not exist or does not answer is told apart from a refusal", async () => {
    const { port, gate } = await openGate({ hosts: ["*.example"], network: testNetwork(names) });
    expect(answerOf(await exchange(port, get("http://c.example/")))).toEqual({
      status: 502,
      body: "galley: cannot resolve c.example",
    });
    expect(answerOf(await exchange(port, connectTo("c.example:443")))).toEqual({
      status: 502,
      body: "galley: cannot resolve c.example",
    });
    expect(answerOf(await exchange(port, connectTo("a.example:443")))).toEqual({
      status: 502,
      body: "galley: cannot reach a.example:443 (ECONNREFUSED)",
    });
    expect(gate.blocked()).toEqual([]);
  });
});

describe("everything else is refused (B-7)", () => {
  it("with the sentence that says what is missing, without a lookup, and counted", async () => {
    const { port, network, gate } = await opened(["a.example"]);
    const body = "galley: registry.example:443 is not in bash.hosts";
    expect(answerOf(await exchange(port, connectTo("registry.example:443")))).toEqual({ status: 403, body });
    expect(answerOf(await exchange(port, connectTo("Registry.example:443")))).toEqual({ status: 403, body });
    expect(answerOf(await exchange(port, get("http://a.example:8080/"))).status).toBe(403);
    expect(gate.blocked()).toEqual([
      { host: "registry.example:443", times: 2 },
      { host: "a.example:8080", times: 1 },
    ]);
    expect([network.lookups, network.dials]).toEqual([[], []]);
  });

  // Each is another way to write a host that is listed, or to hide one that is not.
  it.each([
    "a.example.",
    "a.example%00",
    "a.example%2eevil.example",
    "user@a.example",
    "user:pass@a.example",
    "a.example@evil.example",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "[::]",
    "[fe80::1%25eth0]",
    "a.example\\.evil.example",
    "a.example;x",
    "ba.example",
    "xn--a.example",
    "a.example\xff",
  ])("%s", async (host) => {
    const { port, network, gate } = await opened(["a.example", "*.a.example"], { decide: async () => "no" });
    const bytes = (text: string) => Buffer.from(text, "latin1");
    for (const request of [
      get(`http://${host}/`),
      get(`http://${host}:443/`),
      connectTo(`${host}:443`),
      connectTo(`${host}:80`),
    ])
      expect([400, 403]).toContain(answerOf(await exchange(port, bytes(request))).status);
    expect([network.lookups, network.dials]).toEqual([[], []]);
    for (const blocked of gate.blocked()) expect(blocked.host).toMatch(/^(?:…@)?[!-~]+$/);
  });

  it.each(["\0", "\r", "\n", " ", "\t", "\r\n X: "])("a host with %j in it", async (bad) => {
    const { port, network } = await opened(["a.example", "*.evil.example"]);
    for (const request of [get(`http://a.example${bad}.evil.example/`), connectTo(`a.example${bad}.evil.example:443`)])
      expect(answerOf(await exchange(port, request)).status).toBe(400);
    expect(network.dials).toEqual([]);
  });

  it.each([
    ["loopback", "127.0.0.1"],
    ["private", "10.0.0.1"],
    ["metadata", "169.254.169.254"],
    ["IPv6", "::1"],
    ["mapped", "::ffff:10.0.0.1"],
    ["all", "0.0.0.0"],
  ])("a listed name that leads to an address that is not (%s), also as one of several", async (_, address) => {
    const { port, network, gate } = await opened(["a.example", "c.example:8080"], {
      names: { "a.example": [publicAddress, address], "c.example": [address] },
    });
    const shown = address.includes(":") ? `[${address}]` : address;
    const refused = (at: number) => ({ status: 403, body: `galley: ${shown}:${at} is not in bash.hosts` });
    expect(answerOf(await exchange(port, connectTo("a.example:443")))).toEqual(refused(443));
    expect(answerOf(await exchange(port, get("http://c.example:8080/")))).toEqual(refused(8080));
    expect(network.dials).toEqual([]);
    expect(gate.blocked().map(({ times }) => times)).toEqual([1, 1]);
  });

  it("until an entry names the address and the port", async () => {
    const hosts = ["c.example:8080", "10.0.0.1:8080", "localhost:5432", "[::1]:80", "169.254.169.254:80"];
    const { port, network } = await opened(hosts, { names: { "c.example": ["10.0.0.1"] } });
    for (const authority of ["c.example:8080", "10.0.0.1:8080", "localhost:5432", "[::1]:80", "169.254.169.254:80"])
      expect(answerOf(await exchange(port, get(`http://${authority}/`))).status).toBe(200);
    expect(network.dials).toEqual(["10.0.0.1:8080", "10.0.0.1:8080", "127.0.0.1:5432", "::1:80", "169.254.169.254:80"]);
    for (const authority of ["localhost:80", "127.0.0.1:5432", "169.254.169.254:443", "10.0.0.1:80"])
      expect(answerOf(await exchange(port, get(`http://${authority}/`))).status).toBe(403);
  });

  it("without repeating a password", async () => {
    const { port, gate } = await opened(["a.example"]);
    const text = await exchange(port, get("http://me:hunter2@a.example/"));
    expect(Buffer.from(answerOf(text).body, "latin1").toString()).toBe("galley: …@a.example:80 is not in bash.hosts");
    expect(gate.blocked()).toEqual([{ host: "…@a.example:80", times: 1 }]);
  });

  it("counts a hundred hosts, and no text without end", async () => {
    const { port, gate } = await opened([]);
    for (let count = 0; count < 120; count++) await exchange(port, connectTo(`h${count}.example:443`));
    expect(gate.blocked()).toHaveLength(100);
    const { port: other, gate: long } = await opened([]);
    await exchange(other, connectTo(`${"x".repeat(5000)}:443`));
    expect(long.blocked()).toEqual([{ host: `${"x".repeat(100)}…`, times: 1 }]);
  });

  it("what is no request to a proxy", async () => {
    const { port } = await opened(["a.example"]);
    const usage = { status: 400, body: "galley: this proxy takes http:// addresses and CONNECT" };
    for (const url of ["/", "https://a.example/", "ftp://a.example/", "*", "http:/a.example/"])
      expect(answerOf(await exchange(port, get(url).replace("GET *", "OPTIONS *")))).toMatchObject({ status: 400 });
    expect(answerOf(await exchange(port, "nonsense\r\n\r\n"))).toEqual(usage);
    expect(answerOf(await exchange(port, get("http://a.example/", `X: ${"x".repeat(20_000)}\r\n`)))).toEqual(usage);
  });
});

describe("questions", () => {
  it("asks once for each host while all requests wait, and a yes holds for this gate", async () => {
    const asked: string[] = [];
    let answer: (value: HostAnswer) => void = () => {};
    const { port, gate } = await opened([], {
      decide: (host) => {
        asked.push(host);
        return new Promise((resolve) => (answer = resolve));
      },
    });
    const requests = [1, 2, 3].map(() => exchange(port, get("http://a.example/")));
    await until(() => asked.length > 0);
    answer("once");
    for (const text of await Promise.all(requests)) expect(answerOf(text).status).toBe(200);
    expect(answerOf(await exchange(port, get("http://a.example/"))).status).toBe(200);
    expect(asked).toEqual(["a.example:80"]);
    expect(gate.blocked()).toEqual([]);
  });

  it.each([
    ["no", async () => "no" as const],
    ["a broken answer", async () => "yes" as HostAnswer],
    ["nothing", async () => undefined as unknown as HostAnswer],
    ["a failure", () => Promise.reject(new Error("gone"))],
    [
      "a throw",
      () => {
        throw new Error("gone");
      },
    ],
  ])("takes %s for a no, and does not ask again", async (_, decide) => {
    let times = 0;
    const { port, gate, network } = await opened([], {
      decide: () => {
        times++;
        return decide();
      },
    });
    for (const _again of [1, 2]) expect(answerOf(await exchange(port, get("http://a.example/"))).status).toBe(403);
    expect([times, network.lookups, gate.blocked()]).toEqual([1, [], [{ host: "a.example:80", times: 2 }]]);
  });

  it("takes silence for a no, and says that the question is over", async () => {
    const clock = manualClock();
    let over: AbortSignal | undefined;
    const decide = (_host: string, signal: AbortSignal) => {
      over = signal;
      return new Promise<HostAnswer>(() => {});
    };
    const { port } = await openGate({ hosts: [], clock, decide, network: testNetwork(names) });
    const text = exchange(port, connectTo("a.example:443"));
    await until(() => over !== undefined);
    clock.advance(120_000);
    expect(answerOf(await text).status).toBe(403);
    expect(over?.aborted).toBe(true);
  });

  it("does not ask about more than ten hosts, nor where credentials are handed out", async () => {
    const asked: string[] = [];
    const { port } = await opened([], {
      decide: async (host) => {
        asked.push(host);
        return "no";
      },
    });
    for (const host of ["169.254.169.254", "[fd00:ec2::254]", "0.0.0.0", "a.example."])
      await exchange(port, connectTo(`${host}:80`));
    expect(asked).toEqual([]);
    for (let count = 0; count < 12; count++) await exchange(port, connectTo(`h${count}.example:80`));
    expect(asked).toHaveLength(10);
  });

  it("a yes to a name opens no address of this machine or its network", async () => {
    const { port, network } = await opened([], {
      names: { "evil.example": ["192.168.1.1"] },
      decide: async () => "always",
    });
    expect(answerOf(await exchange(port, get("http://evil.example/")))).toEqual({
      status: 403,
      body: "galley: 192.168.1.1:80 is not in bash.hosts",
    });
    expect(network.dials).toEqual([]);
  });

  it("ends with the gate", async () => {
    let over: AbortSignal | undefined;
    const decide = (_host: string, signal: AbortSignal) => {
      over = signal;
      return new Promise<HostAnswer>(() => {});
    };
    const { port, gate } = await openGate({ hosts: [], decide, network: testNetwork(names) });
    const text = exchange(port, connectTo("a.example:443")).catch(() => "reset");
    await until(() => over !== undefined);
    gate.close();
    expect(over?.aborted).toBe(true);
    expect(["reset", ""]).toContain(await text);
  });
});

describe("bounds", () => {
  it("ends a connection that sends no whole headers in time", async () => {
    const clock = manualClock();
    const { port } = await openGate({ hosts: [], clock, network: testNetwork({}) });
    const text = exchange(port, "GET http://a.example/ HTTP/1.1\r\n").catch(() => "");
    await until(() => clock.pendingTimers > 0);
    clock.advance(30_000);
    expect(await text).toBe("");
  });

  it("takes 256 connections at a time, and others once they end", async () => {
    const { port } = await opened(["a.example"]);
    const idle = Array.from({ length: 256 }, () => connect(port, "127.0.0.1"));
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect(await exchange(port, get("http://a.example/")).catch(() => "")).toBe("");
    for (const socket of idle) socket.destroy();
    let status = 0;
    while (status !== 200) status = answerOf(await exchange(port, get("http://a.example/")).catch(() => "")).status;
  });

  it("looks up two names at a time", async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const network = testNetwork({});
    const { port } = await openGate({
      hosts: ["*.example"],
      network: {
        ...network,
        async lookup() {
          most = Math.max(most, ++running);
          await new Promise<void>((resolve) => waiting.push(resolve));
          running--;
          throw new Error("ENOTFOUND");
        },
      },
    });
    const all = Promise.all([1, 2, 3, 4, 5].map((count) => exchange(port, connectTo(`n${count}.example:443`))));
    await until(() => running === 2);
    for (let count = 0; count < 5; count++) {
      await until(() => waiting.length > 0);
      waiting.shift()?.();
    }
    expect((await all).map((text) => answerOf(text).status)).toEqual([502, 502, 502, 502, 502]);
    expect(most).toBe(2);
  });

  it("closes what it reached when it closes", async () => {
    let ends = 0;
    const server = await tcpServer((socket) => {
      socket.on("end", () => ends++);
      socket.resume();
    });
    const { port, gate } = await openGate({ hosts: ["a.example"], network: testNetwork(names, server) });
    const client = connect(port, "127.0.0.1");
    client.on("error", () => {});
    client.write(connectTo("a.example:443"));
    await new Promise((resolve) => client.once("data", resolve));
    gate.close();
    await until(() => ends === 1 && client.destroyed);
    await expect(exchange(port, "x")).rejects.toThrow("ECONNREFUSED");
  });
});
