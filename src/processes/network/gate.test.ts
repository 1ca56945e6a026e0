// The gate in real networks of their own: a helper inside listens and hands its socket out, and programs inside reach
// servers on this machine's loopback through it, and nothing else.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HostAnswer } from "./admission.js";
import { createNetworkGate, gatePort, type NetworkGateOptions } from "./gate.js";
import { httpServer, portOf, publicAddress, testNetwork } from "./network.test-kit.js";

const mechanisms: Readonly<Record<string, readonly string[]>> = {
  bubblewrap: ["bwrap", "--unshare-user", "--unshare-net", "--dev-bind", "/", "/", "--", "sh", "-c"],
  namespaces: ["unshare", "--user", "--map-root-user", "--net", "--", "sh", "-c"],
};

/** Loopback is down in a new network; bubblewrap raises it by itself. */
const raiseLoopback = "ip link set lo up 2>/dev/null || true";

const works = (name: string) => {
  const [file = "", ...args] = mechanisms[name] ?? [];
  const script = `${raiseLoopback}; exec "$0" -e 'require("net").createServer().listen(0,"127.0.0.1",function(){this.close()})'`;
  return spawnSync(file, [...args, script, process.execPath], { stdio: "ignore" }).status === 0;
};

it("has variables for programs of both habits, and no way around the proxy where localhost is the user's machine", () => {
  const { env } = createNetworkGate({ hosts: ["localhost:5432"] });
  const url = `http://127.0.0.1:${gatePort}`;
  const names = ["http_proxy", "https_proxy", "all_proxy"];
  expect(env).toEqual(
    Object.fromEntries([...names, ...names.map((name) => name.toUpperCase())].map((name) => [name, url])),
  );
});

it("leaves the command's own servers to it where no entry means the user's machine", () => {
  for (const hosts of [[], ["registry.example", "10.1.2.3:443"]]) {
    const { env } = createNetworkGate({ hosts });
    expect([env.no_proxy, env.NO_PROXY]).toEqual(["localhost,127.0.0.1,::1", "localhost,127.0.0.1,::1"]);
  }
  for (const host of ["localhost:80", "127.0.0.1:5432", "[::1]:5432"])
    expect(createNetworkGate({ hosts: [host] }).env.no_proxy).toBeUndefined();
});

it("refuses a host that is none", () => {
  expect(() => createNetworkGate({ hosts: ["a.example", "https://b.example"] })).toThrow("bash.hosts: expected a host");
});

it("accepts on no handle that came late, twice, or is none", async () => {
  const gate = createNetworkGate({ hosts: [] });
  for (const handle of [undefined, null, {}, "listening"]) gate.serve(handle);
  const late = createServer();
  await new Promise<void>((resolve) => late.listen(0, "127.0.0.1", resolve));
  gate.close();
  gate.serve(late);
  expect(late.listening).toBe(false);
  gate.close();
});

describe.each(Object.keys(mechanisms))("in a network by %s", (name) => {
  const canRun = works(name);
  const hasCurl = spawnSync("curl", ["--version"], { stdio: "ignore" }).status === 0;
  const test = it.skipIf(!canRun);
  const testWithCurl = it.skipIf(!canRun || !hasCurl);
  if (!canRun) it.skip(`skipped: ${name} cannot make a network of its own here`, () => {});
  if (!hasCurl) it.skip("skipped: curl is not installed", () => {});

  /** Runs the shell text inside, as a box would: first the listener, then the command without its channel. */
  async function inside(text: string, options: NetworkGateOptions) {
    const gate = createNetworkGate(options);
    onTestFinished(() => gate.close());
    const [file = "", ...args] = mechanisms[name] ?? [];
    const script = `${raiseLoopback}; "$0" -e "$1" && exec 3>&- && unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE && exec sh -c "$2"`;
    const child: ChildProcess = spawn(file, [...args, script, process.execPath, gate.listenScript, text], {
      env: { PATH: process.env.PATH, ...gate.env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    child.on("message", (_message, handle) => gate.serve(handle));
    let output = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    return { code, output, blocked: gate.blocked() };
  }

  async function localServer() {
    const server = await httpServer((request, response) => response.end(`${request.method} ${request.headers.host}`));
    return portOf(server);
  }

  testWithCurl("curl reaches a listed host, and no other", async () => {
    const port = await localServer();
    const text = [
      `curl -sS http://localhost:${port}/`,
      `curl -sS --proxytunnel http://localhost:${port}/`,
      `curl -sS http://127.0.0.1:${port}/`,
      `curl -sS -o /dev/null -w '%{http_code}' http://registry.example/`,
      `curl -sS https://registry.example/ 2>&1 | grep -o 403`,
      `curl -sS --noproxy '*' --max-time 5 http://127.0.0.1:${port}/ 2>/dev/null || echo closed`,
    ].join("; echo; ");
    const { output, blocked } = await inside(text, { hosts: [`localhost:${port}`] });
    const [first, second, third, ...rest] = output.split("\n").filter((line) => line !== "");
    expect([first, second]).toEqual([`GET localhost:${port}`, `GET localhost:${port}`]);
    expect(third).toBe(`galley: 127.0.0.1:${port} is not in bash.hosts`);
    expect(rest).toEqual(["403", "403", "closed"]);
    expect(blocked).toEqual([
      { host: `127.0.0.1:${port}`, times: 1 },
      { host: "registry.example:80", times: 1 },
      { host: "registry.example:443", times: 1 },
    ]);
  });

  test("a Node program reaches the address that was looked up here", async () => {
    const server = await httpServer((request, response) => response.end(`reached ${request.headers.host}`));
    const network = testNetwork({ "registry.example": [publicAddress] }, server);
    const { code, output } = await inside(`"${process.execPath}" -e '${programFor(1)}'`, {
      hosts: ["registry.example"],
      network,
    });
    expect({ code, output }).toEqual({ code: 0, output: "reached registry.example" });
    expect(network.dials).toEqual([`${publicAddress}:80`]);
  });

  test("twenty requests at once wait for one answer of the user", async () => {
    const asked: string[] = [];
    const decide = async (host: string): Promise<HostAnswer> => {
      asked.push(host);
      return "session";
    };
    const server = await httpServer((_request, response) => response.end("x"));
    const network = testNetwork({ "registry.example": [publicAddress] }, server);
    const { output } = await inside(`"${process.execPath}" -e '${programFor(20)}'`, { hosts: [], decide, network });
    expect(output).toBe("x".repeat(20));
    expect(asked).toEqual(["registry.example:80"]);
  });

  test("the port exists inside alone (X-7), also while a program inside uses it", async () => {
    let found: unknown;
    const decide = async (): Promise<HostAnswer> => {
      found = await new Promise((resolve) => {
        const socket = connect(gatePort, "127.0.0.1");
        socket.on("connect", () => resolve("open"));
        socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      });
      return "no";
    };
    const { output } = await inside(`"${process.execPath}" -e '${programFor(1)}'`, { hosts: [], decide });
    expect([output, found]).toEqual(["galley: registry.example:80 is not in bash.hosts", "ECONNREFUSED"]);
  });
});

/** Asks the proxy for a page, this many times at once, and prints the answers. */
function programFor(times: number): string {
  const options = `{ host: "127.0.0.1", port: ${gatePort}, path: "http://registry.example/x" }`;
  return `for (let i = 0; i < ${times}; i++)
    require("node:http").request(${options}, (answer) => answer.pipe(process.stdout)).end();`;
}
