// The stdio server: lines in, frames out, one shutdown. It ends with a code and leaves the exit to its caller.

import { type Clock, sleep } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { type Frame, FrameReader } from "../base/ndjson.js";
import type { AgentSession } from "../sdk/index.js";
import { Dispatcher } from "./dispatcher.js";
import { Features } from "./features.js";
import { type FrameOutput, Outbox } from "./outbox.js";

export interface RpcServerOptions {
  input: AsyncIterable<Uint8Array>;
  output: FrameOutput;
  /** Commands wait for it; `ready` was sent before. */
  session: Promise<AgentSession>;
  clock: Clock;
  log: Log;
}

export interface RpcServer {
  /** Resolves with the exit code when everything is closed. */
  readonly done: Promise<number>;
  /** The one way out, for the end of input, a signal and a broken output alike. The first call decides the code. */
  shutdown(code: number): Promise<number>;
  /** A failure that nobody caught: the host is told, and the program goes on. */
  reportSurprise(origin: string, error: unknown): void;
}

const shutdownBudgetMs = 5000;
const drainBudgetMs = 2000;

export function serveRpc({ input, output, session, clock, log }: RpcServerOptions): RpcServer {
  const features = new Features();
  const outbox = new Outbox({ output, features, clock });
  const dispatcher = new Dispatcher({ session, outbox, features, clock });
  session.then(
    (live) => {
      live.subscribe((event) => outbox.sendEvent(event));
      live.onReport((report) => outbox.send(report));
      void live.whenReady(); // never rejects; whoever needs the tools waits for it
    },
    () => {}, // whoever made the promise tells of its failure
  );

  let ending: Promise<number> | undefined;
  const shutdown = (code: number): Promise<number> => {
    ending ??= close({ code, session, dispatcher, outbox, clock, log });
    return ending;
  };
  const done = serve(input, dispatcher, () => ending !== undefined)
    .catch((error: unknown) => log.error("reading stdin failed", error)) // the same as its end
    .then(() => shutdown(0));

  return {
    done,
    shutdown,
    reportSurprise(origin, error) {
      log.error(`uncaught (${origin})`, error);
      outbox.send({ type: "extension_error", extensionPath: "<unknown>", event: origin, error: messageOf(error) });
    },
  };
}

async function serve(
  input: AsyncIterable<Uint8Array>,
  dispatcher: Dispatcher,
  isClosing: () => boolean,
): Promise<void> {
  const reader = new FrameReader();
  const take = async (frames: readonly Frame[]) => {
    for (const frame of frames) {
      await dispatcher.hasRoom();
      if (isClosing()) return; // a prompt taken in now would open a run that nobody closes
      if (frame.ok) dispatcher.dispatch(frame.value);
      else dispatcher.refuseLine(frame.problem);
    }
  };
  for await (const chunk of input) await take(reader.push(chunk));
  await take(reader.end());
}

interface Closing {
  code: number;
  session: Promise<AgentSession>;
  dispatcher: Dispatcher;
  outbox: Outbox;
  clock: Clock;
  log: Log;
}

/** Answers what was accepted, closes the run with its events, hands everything to the reader; bounded throughout. */
async function close({ code, session, dispatcher, outbox, clock, log }: Closing): Promise<number> {
  const orderly = async () => {
    const live = await session;
    // Twice: a prompt still in the lane may open a run after the first was stopped.
    await Promise.all([live.abort(), dispatcher.idle()]);
    await live.dispose();
  };
  try {
    await within(clock, shutdownBudgetMs - drainBudgetMs, orderly());
    await within(clock, drainBudgetMs, outbox.flushed());
  } catch (error) {
    log.error("closing the session failed", error);
  }
  return code;
}

async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const bound = sleep(clock, ms, patience.signal).catch(() => {}); // cancelled below when the work was quicker
  await Promise.race([work, bound]).finally(() => patience.abort());
}
