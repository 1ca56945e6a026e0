// The stdio server: lines in, frames out, one shutdown. It ends with a code and leaves the exit to its caller.

import { atMost, type Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { type Frame, FrameReader } from "../base/ndjson.js";
import type { AgentSession } from "../sdk/index.js";
import { CommandListUpdates } from "./command-list-updates.js";
import { ControlLane } from "./control-lane.js";
import { type Dialect, dialects } from "./dialect.js";
import { Dispatcher } from "./dispatcher.js";
import { Features } from "./features.js";
import type { HandlerContext } from "./handler.js";
import { HostTools } from "./host-tools.js";
import { type FrameOutput, Outbox } from "./outbox.js";
import { PromptResults } from "./prompt-results.js";
import { StateEvents } from "./state-events.js";
import type { UiBridge } from "./ui-bridge.js";

export interface RpcServerOptions {
  input: AsyncIterable<Uint8Array>;
  output: FrameOutput;
  /** Commands wait for it; `ready` was sent before. */
  session: Promise<AgentSession>;
  /** How the session asks the user; absent where no user can be asked. */
  ui?: UiBridge | undefined;
  /** Default: galley's own. */
  dialect?: Dialect | undefined;
  clock: Clock;
  log: Log;
}

export interface RpcServer {
  /** Resolves with the exit code when everything is closed. */
  readonly done: Promise<number>;
  /** The one way out, for the end of input, a signal and a broken output alike. The first call decides the code. */
  shutdown(code: number): Promise<number>;
  /** Resolves when every command read so far has its answer. */
  whenAnswered(): Promise<void>;
  /** An uncaught error: the host is told, and the program goes on. */
  reportUncaught(origin: string, error: unknown): void;
}

const shutdownBudgetMs = 5000;
const drainBudgetMs = 2000;
/** Ending a process may take a while, even during an urgent shutdown. */
const processesMs = 2500;
/**
 * A host that sends a signal may not wait much longer than a second; one that ends the input wants its answers. A
 * command without an answer after `answersMs` must not keep the session from being closed, and a host that does not
 * read is waited for `drainMs` at the end, or longer where everything together took less than `allMs`.
 */
const urgent = { waitMs: 250, answersMs: 400, untilMs: 700, drainMs: 200, allMs: 950 };
const leisurely = { waitMs: 1500, answersMs: 2500, untilMs: 2400, drainMs: drainBudgetMs, allMs: 0 };
const leastGoodbyeMs = 200;

export function serveRpc(options: RpcServerOptions): RpcServer {
  const { input, output, session, ui, dialect = dialects.galley, clock, log } = options;
  const features = new Features(dialect.features);
  let open: AgentSession | undefined;
  const outbox = new Outbox({ output, features, clock, mask: () => open?.secrets });
  const send = (frame: object) => outbox.send(frame);
  const results = new PromptResults({ features, send });
  const commandListUpdates = new CommandListUpdates({ features, send });
  const onOpened = () => dispatcher.checkRoom();
  const hostTools = new HostTools({ send, onOpened, clock, log });
  ui?.connect(send, onOpened);
  const stateEvents = new StateEvents({ features, send });
  const control = new ControlLane(hostTools, ui);
  const dispatcher = new Dispatcher({
    session,
    outbox,
    features,
    results,
    commandListUpdates,
    hostTools,
    control,
    stateEvents,
    dialect,
    clock,
  });
  session.then(
    (live) => {
      open = live;
      live.subscribe((event) => {
        const caughtUp = outbox.sendEvent(event);
        stateEvents.tell(live);
        hostTools.see(event);
        return caughtUp;
      });
      results.attach(live);
      stateEvents.begin(live);
      live.onReport((report) => outbox.send(report));
      void live.whenReady(); // never rejects; commands that need the tools wait for it
    },
    () => {}, // the maker of the promise reports its failure
  );

  let ending: Promise<number> | undefined;
  const shutdown = (code: number): Promise<number> => {
    ui?.close();
    ending ??= close({ code, session, dispatcher, results, outbox, clock, log });
    return ending;
  };
  const done = serve(input, { dispatcher, control, isClosing: () => ending !== undefined })
    .catch((error: unknown) => log.error("reading stdin failed", error)) // the same as its end
    .then(() => {
      hostTools.disconnect();
      return shutdown(0);
    });

  return {
    done,
    shutdown,
    whenAnswered: () => dispatcher.idle(),
    reportUncaught(origin, error) {
      log.error(`uncaught (${origin})`, error);
      const extensionPath = open?.blame(error) ?? "<unknown>";
      outbox.send({ type: "extension_error", extensionPath, event: origin, error: messageOf(error) });
    },
  };
}

interface Serving {
  dispatcher: Dispatcher;
  control: ControlLane;
  isClosing(): boolean;
}

async function serve(input: AsyncIterable<Uint8Array>, { dispatcher, control, isClosing }: Serving): Promise<void> {
  const reader = new FrameReader();
  const take = async (frames: readonly Frame[]) => {
    for (const frame of frames) {
      if (frame.ok && control.take(frame.value)) continue; // a command that waits for it may take the room
      await dispatcher.hasRoom();
      if (isClosing()) return; // a prompt accepted now would start a run that is never closed
      if (frame.ok) dispatcher.dispatch(frame.value);
      else dispatcher.refuseLine(frame.problem);
    }
  };
  for await (const chunk of input) await take(reader.push(chunk));
  await take(reader.end());
}

interface Closing
  extends Pick<RpcServerOptions, "session" | "clock" | "log">,
    Pick<HandlerContext, "results" | "outbox"> {
  code: number;
  dispatcher: Dispatcher;
}

/** Answers what was accepted, closes the run with its events, writes everything to the host; each with a time limit. */
async function close({ code, session, dispatcher, results, outbox, clock, log }: Closing): Promise<number> {
  const { waitMs, answersMs, untilMs, drainMs, allMs } = code === 0 ? leisurely : urgent;
  const since = clock.now();
  const elapsedMs = () => clock.now() - since;
  const orderly = async () => {
    const live = await session;
    live.beginShutdown({ modulesMs: waitMs });
    outbox.release();
    const answered = atMost(clock, answersMs, dispatcher.laneIdle());
    const ended = atMost(clock, processesMs, dispatcher.besideIdle()).then(() => dispatcher.giveUpBeside());
    await Promise.all([live.abort(), stopBash(live), answered, ended]);
    await live.dispose({ modulesMs: Math.max(leastGoodbyeMs, untilMs - elapsedMs()) });
  };
  try {
    await atMost(clock, shutdownBudgetMs - drainBudgetMs, orderly());
    results.closeAll();
    await atMost(clock, Math.max(drainMs, allMs - elapsedMs()), outbox.flushed());
  } catch (error) {
    log.error("closing the session failed", error);
  }
  return code;
}

/** Its answer is due as well, and nothing else would end it. A command that still waits for the tools starts then. */
async function stopBash(session: AgentSession): Promise<void> {
  session.abortBash();
  await session.whenLoaded();
  session.abortBash();
}
