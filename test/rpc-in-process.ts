// A server and its host in one process, with a scripted session behind it: whole frames compare exactly.

import { PassThrough } from "node:stream";
import { silentLog } from "../src/base/log.js";
import { FrameReader } from "../src/base/ndjson.js";
import { type RpcServer, serveRpc } from "../src/rpc/server.js";
import { type OpenSession, type OpenSessionOptions, openSession } from "../src/testing/open-session.js";
import type { TranscriptPeer } from "../src/testing/transcript.js";

export interface InProcessHost extends TranscriptPeer {
  open: OpenSession;
  server: RpcServer;
  /** Ends the input and resolves with the exit code. */
  close(): Promise<number>;
  /** Frames that came and were not received yet. */
  readonly unread: unknown[];
}

export async function serveInProcess(options: OpenSessionOptions = {}, patienceMs = 5000): Promise<InProcessHost> {
  const open = await openSession(options);
  const input = new PassThrough();
  const output = new PassThrough();
  const reader = new FrameReader();
  const unread: unknown[] = [];
  let wake = () => {};
  output.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) unread.push(frame.ok ? frame.value : frame.problem);
    wake();
  });
  const server = serveRpc({ input, output, session: Promise.resolve(open.session), clock: open.clock, log: silentLog });
  return {
    open,
    server,
    unread,
    send: (line) => void input.write(`${line}\n`),
    async receive() {
      const deadline = Date.now() + patienceMs;
      while (unread.length === 0) {
        if (Date.now() > deadline) throw new Error("No frame came");
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 100).unref();
        });
      }
      return unread.shift();
    },
    close() {
      input.end();
      return server.done;
    },
  };
}
