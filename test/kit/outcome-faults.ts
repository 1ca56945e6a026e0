// What can go wrong around one prompt, in three tables: the model service, the host, an extension. Each is small enough
// to be combined with every other.

import type { ServerResponse } from "node:http";
import type { ExtensionFactory } from "../../src/sdk/index.js";
import type { InProcessHost } from "./rpc-in-process.js";

const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const end = `${event({}, "stop")}data: [DONE]\n\n`;

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream" });
}

/** As long as somebody listens. */
function forever(response: ServerResponse, piece: string): void {
  const write = () => {
    while (!response.destroyed && response.write(piece.repeat(20)));
    if (!response.destroyed) response.once("drain", write);
  };
  write();
}

function manyCalls(count: number): string {
  const calls = Array.from({ length: count }, (_, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: "read", arguments: '{"path":"a.txt"}' },
  }));
  return calls.map((call) => event({ tool_calls: [call] })).join("") + event({}, "tool_calls");
}

export interface ProviderFault {
  reply(response: ServerResponse, asked: number): void;
  /** It ends only when the host says so. */
  isEndless?: boolean;
  /** The fault of another model's service, which stands in for this one. */
  spare?: string;
  /** So many times as fast as for the others: a hundred calls wait, one after the other, for an extension that hangs. */
  haste?: number;
}

export const providerFaults: Readonly<Record<string, ProviderFault>> = {
  good: { reply: (response) => void begin(response).end(event({ content: "Done." }) + end) },
  "good call": {
    reply: (response, asked) =>
      void begin(response).end(asked === 0 ? `${manyCalls(2)}data: [DONE]\n\n` : event({ content: "Read." }) + end),
  },
  cut: {
    reply(response) {
      begin(response).write(event({ content: "Half" }));
      setImmediate(() => response.destroy());
    },
  },
  "cut at once": { reply: (response) => void response.destroy() },
  stall: { reply: (response) => void begin(response).write(event({ content: "Hm" })) },
  silence: { reply: () => {} },
  429: { reply: (response) => void response.writeHead(429, { "retry-after": "1" }).end("slow down") },
  500: { reply: (response) => void response.writeHead(500).end('{"error":{"message":"oops"}}') },
  "429, and a spare that answers": { reply: (...asked) => providerFaults[429]?.reply(...asked), spare: "good call" },
  "500, and a spare that fails": { reply: (...asked) => providerFaults[500]?.reply(...asked), spare: "cut" },
  "bad JSON": { reply: (response) => void begin(response).end('data: {"id": nope}\n\n') },
  "no stream": { reply: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>") },
  "no end": { reply: (response) => void begin(response).end(event({ content: "Half" })) },
  "endless deltas": { isEndless: true, reply: (response) => forever(begin(response), event({ content: "word " })) },
  "endless arguments": {
    isEndless: true,
    reply(response) {
      const call = { index: 0, id: "c1", type: "function", function: { name: "read", arguments: '{"path":"' } };
      begin(response).write(event({ tool_calls: [call] }));
      forever(response, event({ tool_calls: [{ index: 0, function: { arguments: "aaaaaaaa" } }] }));
    },
  },
  "10,000 calls": {
    haste: 10,
    reply: (response) => void begin(response).end(`${manyCalls(10_000)}data: [DONE]\n\n`),
  },
};

export interface HostFault {
  /** Called when the prompt was answered. */
  act(host: InProcessHost): void;
  /** Stdin ends with it. */
  isGone?: boolean;
  /** More prompts than the first. */
  prompts?: readonly string[];
}

const send = (host: InProcessHost, ...frames: object[]) => {
  for (const frame of frames) host.send(JSON.stringify(frame));
};

export const hostFaults: Readonly<Record<string, HostFault>> = {
  none: { act: () => {} },
  nonsense: {
    act(host) {
      for (const line of ["hello", "{", "[]", '{"type":7}', '{"type":"frobnicate"}']) host.send(line);
      send(host, { id: "p1", type: "steer", message: 7 }, { id: "p1", type: "get_state" });
    },
  },
  "answers that nobody asked for": {
    act: (host) =>
      send(
        host,
        { type: "host_tool_result", id: "host_9", result: { content: [] } },
        { type: "host_tool_update", id: 7 },
        { type: "extension_ui_response", id: "ui_99", confirmed: true },
      ),
  },
  "a second prompt, and one in the queue": {
    prompts: ["p2", "p3"],
    act: (host) =>
      send(
        host,
        { id: "p2", type: "prompt", message: "Me, too" },
        { id: "p3", type: "prompt", message: "Then", streamingBehavior: "followUp" },
      ),
  },
  abort: { act: (host) => send(host, { id: "a", type: "abort" }) },
  "abort, and another prompt": {
    prompts: ["p2"],
    act: (host) => send(host, { id: "p2", type: "abort_and_prompt", message: "Rather this" }),
  },
  gone: { isGone: true, act: () => {} },
};

export interface ExtensionFault {
  make: ExtensionFactory;
  /** Nobody answers, and nothing else ends the wait. */
  needsAbort?: boolean;
}

const hooks = ["input", "before_agent_start", "context", "tool_call", "tool_result"] as const;
const ears = ["agent_start", "message_end", "turn_end", "agent_end"] as const;

export const extensionFaults: Readonly<Record<string, ExtensionFault>> = {
  none: { make: () => {} },
  throws: {
    make(pi) {
      const handler = () => {
        throw new Error("exploded");
      };
      for (const name of hooks) pi.on(name, handler);
      for (const name of ears) pi.on(name, handler);
    },
  },
  hangs: {
    make(pi) {
      const handler = () => new Promise<undefined>(() => {});
      for (const name of hooks) pi.on(name, handler);
      for (const name of ears) pi.on(name, handler);
    },
  },
  "asks with a deadline": {
    make(pi) {
      for (const name of ["context", "tool_call"] as const)
        pi.on(name, async (_event: unknown, ctx) => {
          await ctx.ui.confirm("Go on?", "Nobody is there.", { timeout: 5000 });
        });
    },
  },
  "asks without a deadline": {
    needsAbort: true,
    make(pi) {
      pi.on("context", async (_event: unknown, ctx) => {
        await ctx.ui.input("Which way?");
      });
    },
  },
};
