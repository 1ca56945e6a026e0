// Clients for the tests: of the scripted agent and of the real one. Every client that was made is ended after the test.

import { join } from "node:path";
import { afterEach } from "vitest";
import { RpcClient, type RpcClientOptions } from "../../src/client/index.js";
import { projectRoot } from "./run-galley.js";

export const fakeAgent = join(projectRoot, "test/kit/client-fake-agent.mjs");

type Step = Record<string, unknown>;
export interface FakeScript {
  ready?: object;
  first?: string;
  rules?: { on: string; where?: object; times?: number; do: Step[] }[];
}

const clients: RpcClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop(200)));
});

export function makeClient(options: RpcClientOptions): RpcClient {
  const client = new RpcClient(options);
  clients.push(client);
  return client;
}

export function fakeClient(script: FakeScript = {}, options: RpcClientOptions = {}): RpcClient {
  const command = (args: readonly string[]) => [process.execPath, fakeAgent, JSON.stringify(script), ...args];
  return makeClient({ command, ...options });
}

export async function startFake(script: FakeScript = {}, options: RpcClientOptions = {}): Promise<RpcClient> {
  const client = fakeClient(script, options);
  await client.start();
  return client;
}

/** Every frame the scripted agent was sent; by default without what the client asks on its own account. */
export async function logOf(client: RpcClient, types?: readonly string[]): Promise<Step[]> {
  const { log } = (await client.request("get_log" as never, {} as never)) as unknown as { log: Step[] };
  const own = ["get_state", "get_log", "negotiate_protocol"];
  return log.filter(({ type }) => (types ? types.includes(String(type)) : !own.includes(String(type))));
}

/** A request that the agent never answers keeps the client busy until something else ends it. */
export const silence = (on: string) => ({ on, do: [] });

export const accepted = { id: "$id", type: "response", command: "prompt", success: true };
export const failed = (error: string, more: object = {}) => ({
  id: "$id",
  type: "response",
  command: "prompt",
  success: false,
  error,
  ...more,
});
export const said = (text: string, more: object = {}) => ({
  type: "message_end",
  message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more },
});
export const idle = { id: "$id", type: "response", command: "get_state", success: true, data: { isStreaming: false } };
export const busy = { ...idle, data: { isStreaming: true } };
