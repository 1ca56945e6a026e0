// Frames to handlers, in lanes. The main lane is strictly first in, first out; a prompt leaves the lane as soon as it
// is accepted; a long command takes its turn and then continues beside the lane; an interrupt acts at once and is
// answered in its turn. No frame ends the process.

import type { TypedObject } from "../base/ndjson.js";
import { checkCommand } from "../protocol/check-command.js";
import type { AgentSession } from "../sdk/index.js";
import type { ControlLane } from "./control-lane.js";
import type { HandlerContext } from "./handler.js";
import { handlers } from "./handlers.js";
import { Request } from "./read-request.js";
import type { StateEvents } from "./state-events.js";

/** Answered at their end. Meanwhile the host may read, but commands that change the session wait. */
const longTypes = new Set(["compact", "export_html"]);

/** Beside the lane: the session runs one such command after the other, and stopping them waits for nothing. */
const besideTypes = new Set(["bash", "abort_bash"]);

type Interrupt = (session: AgentSession) => void;

/** What an interrupt does before its turn comes: at once, and to what begins until then. */
const interrupts = new Map<string, Interrupt>([
  ["abort", (session) => session.cancelWaits()],
  ["abort_and_prompt", (session) => session.cancelWaits()],
  ["abort_retry", (session) => void session.abortRetry()],
]);

/**
 * Their effect or answer depends on the tools, commands and models of extensions. `abort_bash` waits where `bash` does: it must
 * not overtake the command that it is for.
 */
const equippedTypes = new Set([
  ...["prompt", "abort_and_prompt", "steer", "follow_up", "get_state", "get_commands", "set_host_tools"],
  ...[
    "bash",
    "abort_bash",
    "compact",
    "new_session",
    "switch_session",
    "branch",
    "fork",
    "clone",
    "export_html",
    "get_available_commands",
    "get_available_models",
    "set_model",
    "cycle_model",
  ],
]);

/** For its turn, where a command before it has asked the user something. */
const stateWaitMs = 1000;

const maxUnanswered = 1024;
/** While a call or dialog waits for the host, its answer may be behind commands: so many more are read to find it. */
const maxUnansweredWhileAsked = 16 * maxUnanswered;

export interface DispatcherDeps extends Omit<HandlerContext, "session" | "request"> {
  readonly session: Promise<AgentSession>;
  readonly control: ControlLane;
  readonly stateEvents: StateEvents;
}

export class Dispatcher {
  readonly #deps: DispatcherDeps;
  #lane: Promise<void> = Promise.resolve();
  #long: Promise<void> = Promise.resolve();
  readonly #beside = new Map<Promise<void>, Request>();
  /** Those whose turn has not come. */
  readonly #interrupting = new Set<{ readonly act: Interrupt }>();
  #unanswered = 0;
  #waiters: (() => void)[] = [];

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  dispatch(frame: TypedObject): void {
    const { outbox, features } = this.#deps;
    const request = new Request(frame, outbox, features);
    if (besideTypes.has(frame.type)) return this.#runBeside(request, this.#handle(frame, request));
    const act = interrupts.get(frame.type);
    const interrupt = act && checkCommand(frame).ok ? { act } : undefined; // an invalid command stops nothing
    if (interrupt) {
      this.#interrupting.add(interrupt);
      void this.#deps.session.then(interrupt.act, () => {}); // without a session there is nothing to stop
    }
    const handle =
      frame.type === "get_state" ? this.#beforeItsTurn(frame, request) : () => this.#handle(frame, request);
    this.#queue(async () => {
      if (!frame.type.startsWith("get_")) await this.#long;
      if (interrupt) this.#interrupting.delete(interrupt);
      const handled = handle();
      if (longTypes.has(frame.type)) this.#long = handled;
      else await handled;
    });
  }

  /** Users may think about a question for as long as they like, and a host wants to know the state meanwhile. */
  #beforeItsTurn(frame: TypedObject, request: Request): () => Promise<void> {
    const { clock, control } = this.#deps;
    let handled: Promise<void> | undefined;
    let stopLooking = () => {};
    const handle = () => {
      stopLooking();
      handled ??= this.#handle(frame, request);
      return handled;
    };
    const look = () => {
      stopLooking = clock.after(stateWaitMs, () => void (control.isAsking ? handle() : look()));
    };
    if (this.#unanswered > 0) look();
    return handle;
  }

  /** A line that is no frame. It takes its turn like a command, so that answers stay in the order of the lines. */
  refuseLine(problem: string): void {
    const error = `Failed to parse command: ${problem}`;
    this.#queue(() => this.#deps.outbox.send({ type: "response", command: "parse", success: false, error }));
  }

  /** Resolves when another command may be read: few enough wait for their answer, and the host reads. */
  async hasRoom(): Promise<void> {
    while (this.#isFull) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    await this.#deps.outbox.drained();
  }

  /** Resolves when every command read so far has its answer. */
  async idle(): Promise<void> {
    await this.laneIdle();
    await this.besideIdle();
  }

  /** The same without the commands beside the lane. */
  async laneIdle(): Promise<void> {
    await this.#lane;
    await this.#long;
  }

  /** The same for those alone: commands of the user. */
  async besideIdle(): Promise<void> {
    await Promise.all(this.#beside.keys());
  }

  /** Answers those that are not done, because the program ends now. */
  giveUpBeside(): void {
    for (const request of this.#beside.values()) request.giveUp("galley ended before the command did.");
  }

  /** Puts an answer in the lane. It is made only when the host has read most of those before it. */
  #queue(answer: () => void | Promise<void>): void {
    this.#unanswered++;
    this.#lane = this.#lane.then(async () => {
      await this.#deps.outbox.drained();
      await answer();
      this.#answered();
    });
  }

  #runBeside(request: Request, handled: Promise<void>): void {
    this.#unanswered++;
    this.#beside.set(handled, request);
    void handled.then(() => {
      this.#beside.delete(handled);
      this.#answered();
    });
  }

  get #isFull(): boolean {
    return this.#unanswered >= (this.#deps.control.isWaiting ? maxUnansweredWhileAsked : maxUnanswered);
  }

  #answered(): void {
    this.#unanswered--;
    this.checkRoom();
  }

  checkRoom(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Never rejects. */
  async #handle(frame: TypedObject, request: Request): Promise<void> {
    try {
      const handler = handlers.get(frame.type);
      if (!handler) return request.refuseUnknown();
      const checked = checkCommand(this.#deps.dialect.clampsLevels ? withKnownLevel(frame) : frame);
      if (!checked.ok) return checked.kind === "invalid" ? request.refuse(checked.problem) : request.refuseUnknown();
      const session = await this.#deps.session;
      if (equippedTypes.has(frame.type)) await session.whenLoaded();
      const answer = handler({ ...this.#deps, session, request }, checked.command);
      for (const { act } of this.#interrupting) act(session); // they are behind it in the lane
      const data = await answer;
      this.#deps.stateEvents.tell(session);
      request.succeed(data);
    } catch (error) {
      request.fail(error);
    }
  }
}

/** `off` stands for a level that no model knows; each model has its own lowest for it. */
function withKnownLevel(frame: TypedObject): TypedObject {
  if (frame.type !== "set_thinking_level" || typeof frame.level !== "string" || checkCommand(frame).ok) return frame;
  return { ...frame, level: "off" };
}
