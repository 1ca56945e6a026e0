// A server and its host in one process, with a scripted session behind it: whole frames compare exactly. A frame that a
// strict host would refuse fails whoever receives or closes.

import { PassThrough } from "node:stream";
import type { Clock } from "../../src/base/clock.js";
import { silentLog } from "../../src/base/log.js";
import { type RpcServer, serveRpc } from "../../src/rpc/server.js";
import { UiBridge } from "../../src/rpc/ui-bridge.js";
import { type OpenSession, type OpenSessionOptions, openSession } from "../../src/testing/open-session.js";
import type { TranscriptPeer } from "../../src/testing/transcript.js";
import { StrictReader } from "./strict-frames.mjs";

export interface InProcessHost extends TranscriptPeer {
  open: OpenSession;
  server: RpcServer;
  /** As they are, wherever they are cut. */
  sendBytes(bytes: Uint8Array): void;
  /** Ends the input and resolves with the exit code. */
  close(): Promise<number>;
  /** Every frame so far. */
  readonly frames: readonly Record<string, unknown>[];
  readonly strict: StrictReader;
  /** Frames that came and were not received yet. */
  readonly unread: unknown[];
}

/** `hasUI`: the host is there to be asked, as it is unless `--no-ui` says otherwise. */
export async function serveInProcess(
  { hasUI = false, ...options }: OpenSessionOptions & { hasUI?: boolean } = {},
  patienceMs = 5000,
): Promise<InProcessHost> {
  const manual: Clock = { now: () => open.clock.now(), after: (...timer) => open.clock.after(...timer) };
  const clock = options.session?.clock ?? manual;
  const ui = hasUI ? new UiBridge({ clock, emitsTitle: true }) : undefined;
  const open = await openSession({ ...options, session: { ...(ui ? { ui: ui.ui } : {}), ...options.session } });
  const input = new PassThrough();
  const output = new PassThrough();
  const strict = new StrictReader({ expectReady: false });
  const frames: Record<string, unknown>[] = [];
  const unread: unknown[] = [];
  let rest = "";
  let wake = () => {};
  output.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const frame = strict.read(line) === "no JSON" ? { line } : (JSON.parse(line) as Record<string, unknown>);
      frames.push(frame);
      unread.push(frame);
    }
    wake();
  });
  const server = serveRpc({ input, output, session: Promise.resolve(open.session), ui, clock, log: silentLog });
  return {
    open,
    server,
    frames,
    strict,
    unread,
    send: (line) => void input.write(`${line}\n`),
    sendBytes: (bytes) => void input.write(bytes),
    advance: (ms) => open.clock.advance(ms),
    async receive() {
      const deadline = Date.now() + patienceMs;
      while (unread.length === 0) {
        if (Date.now() > deadline) throw new Error("No frame came");
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 100).unref();
        });
      }
      strict.verify();
      return unread.shift();
    },
    async close() {
      input.end();
      const code = await server.done;
      strict.verify();
      return code;
    },
  };
}
