// The command of the built program, because it owns stdin, stdout and the exit code of its process.

import { afterEach, beforeAll, expect, it } from "vitest";
import { ensureBuilt, RpcHost, type StartOptions } from "../../test/kit/rpc-host.js";

beforeAll(ensureBuilt);

const hosts: RpcHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose();
});

function start(options: StartOptions = {}): RpcHost {
  const host = new RpcHost(options);
  hosts.push(host);
  return host;
}

it("says ready first, answers commands, and ends with code 0 when its input does", async () => {
  const host = start();
  host.send({ id: "s", type: "get_state" });
  await host.waitFor(({ id }) => id === "s");
  expect(host.frames[0]).toMatchObject({ type: "ready" });
  host.child.stdin?.end();
  expect(await host.exit()).toMatchObject({ code: 0 });
});

it("refuses @file words before it writes anything", async () => {
  const host = start({ args: ["@notes.txt"] });
  expect(await host.exit()).toMatchObject({ code: 1 });
  expect(host.lines).toEqual([]);
  expect(host.stderr).toContain("Error: @file arguments are not supported in RPC mode");
});

it("writes no frame where the model that was named cannot be had", async () => {
  const host = start({ args: ["--model", "no-such-model"] });
  expect(await host.exit()).toMatchObject({ code: 1 });
  expect(host.lines).toEqual([]);
  expect(host.stderr).toContain("no-such-model");
});

it("accepts unknown options and tools, with a warning on stderr", async () => {
  const host = start({ args: ["-q", "--tools", "read,raed"] });
  host.send({ id: "s", type: "get_state" });
  await host.waitFor(({ id }) => id === "s");
  await host.until(() => host.stderr.includes("raed"), "a warning");
  expect(host.stderr).toMatch(/Unknown option -q\..*It is ignored\./);
  expect(host.stderr).toMatch(/raed.*It is ignored\./);
  host.child.stdin?.end();
  expect(await host.exit()).toMatchObject({ code: 0 });
});

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s closes it in order, with code %i", async (signal, code) => {
  const host = start();
  await host.waitFor(({ type }) => type === "ready");
  host.child.kill(signal);
  expect(await host.exit()).toMatchObject({ code });
});
