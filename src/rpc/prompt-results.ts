// What became of every accepted prompt, told exactly once, after its response, and for the prompts of one work in the
// order in which they were accepted. A prompt that waits in a queue is told of with the work that takes it up, or as
// aborted when the queue is emptied under it.

import { GalleyError, messageOf } from "../base/errors.js";
import type { RequestId } from "../protocol/commands.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { PromptResult, SessionSettled } from "../protocol/frames.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { AgentSession } from "../sdk/index.js";
import type { Features } from "./features.js";

export interface PromptResultsDeps {
  readonly features: Features;
  send(frame: PromptResult | SessionSettled): void;
}

/** What is asked of a session: at `agent_settled` the work that it ends is over, and the next may be accepted already. */
export type ResultSource = Pick<
  AgentSession,
  "subscribe" | "isStreaming" | "begunCount" | "lastOutcome" | "queuedMessages"
>;

type Outcome = ResultSource["lastOutcome"];

interface Ticket {
  readonly id: RequestId | undefined;
  isAccepted: boolean;
  /** Absent while nobody has decided what becomes of it: a command of an extension may have taken it. */
  place?: "run" | "queue";
  /** Of one with a run of its own: which `agent_settled` is its own. */
  turn?: number;
  message?: AgentMessage;
  /** A run has taken its message up. */
  isTaken: boolean;
  /** Known before the work is over, when what follows is for somebody else. */
  outcome?: Outcome;
}

/** One prompt on its way. The order of calls: `place` if it comes to that, `accept`, then `end` or `fail`. */
export interface PromptTicket {
  place(message: AgentMessage, place: "run" | "queue"): void;
  /** Its response has been sent. */
  accept(): void;
  /** Dealt with before its response, which said so: there is nothing more to tell. */
  drop(): void;
  /** The session is done with it, unless it waits in a queue. */
  end(): void;
  /** Its failure has been sent. */
  fail(thrown: unknown): void;
}

export class PromptResults {
  readonly #deps: PromptResultsDeps;
  /** The lane takes one prompt after the other, so this is the order of acceptance. */
  readonly #tickets = new Set<Ticket>();
  readonly #byMessage = new WeakMap<AgentMessage, Ticket>();
  #session: ResultSource | undefined;
  #settledCount = 0;
  #isSettlingTold = true;

  constructor(deps: PromptResultsDeps) {
    this.#deps = deps;
  }

  /** After whoever writes the session's events: results come behind them. */
  attach(session: ResultSource): void {
    this.#session = session;
    this.#settledCount = session.begunCount - (session.isStreaming ? 1 : 0);
    session.subscribe((event) => this.#see(event, session));
  }

  /** Nothing runs, and no prompt is about to start anything. One that waits in a queue starts nothing by itself. */
  get isSettled(): boolean {
    return !this.#session?.isStreaming && [...this.#tickets].every(isWaiting);
  }

  open(id: RequestId | undefined): PromptTicket {
    const ticket: Ticket = { id, isAccepted: false, isTaken: false };
    this.#tickets.add(ticket);
    return {
      place: (message, place) => {
        const turn = (this.#session?.begunCount ?? 0) + 1;
        Object.assign(ticket, { message, place, ...(place === "run" ? { turn } : {}) });
        this.#byMessage.set(message, ticket);
      },
      accept: () => {
        ticket.isAccepted = true;
        this.#isSettlingTold = false;
      },
      drop: () => void this.#tickets.delete(ticket),
      end: () => {
        if (!ticket.place) this.#close([ticket], { status: "completed" });
      },
      fail: (thrown) => this.#close([ticket], failureOf(thrown)),
    };
  }

  /** The program ends: what is still open will not be answered by anybody else. */
  closeAll(): void {
    this.#close(
      [...this.#tickets].filter((ticket) => ticket.isAccepted),
      { status: "aborted" },
    );
  }

  #see(event: AgentSessionEvent, session: ResultSource): void {
    if (event.type === "agent_start") this.#isSettlingTold = false;
    if (this.#tickets.size === 0 && event.type !== "agent_settled") return;
    if (event.type === "message_start") this.#taken(event.message);
    else if (event.type === "queue_update" && !session.isStreaming) this.#closeDropped(session);
    else if (event.type === "agent_end" && event.continueReason === "queued") this.#noteOutcome(session.lastOutcome);
    else if (event.type === "agent_settled") this.#settled(session);
  }

  #taken(message: AgentMessage): void {
    const ticket = this.#byMessage.get(message);
    if (ticket) ticket.isTaken = true;
  }

  /** What goes on is the work on a prompt that waited: those before it are through. */
  #noteOutcome(outcome: Outcome): void {
    for (const ticket of this.#tickets) if (ticket.isTaken) ticket.outcome ??= outcome;
  }

  #settled(session: ResultSource): void {
    const settledCount = ++this.#settledCount;
    const queued = new Set(session.queuedMessages);
    const isOver = ({ turn }: Ticket) => turn !== undefined && turn <= settledCount;
    const closed = [...this.#tickets].filter(
      (ticket) => ticket.isAccepted && (ticket.isTaken || isOver(ticket) || isDropped(ticket, queued)),
    );
    this.#close(closed, session.lastOutcome);
  }

  #closeDropped(session: ResultSource): void {
    const queued = new Set(session.queuedMessages);
    const dropped = [...this.#tickets].filter((ticket) => isDropped(ticket, queued));
    if (dropped.length > 0) this.#close(dropped, { status: "aborted" });
  }

  #close(tickets: readonly Ticket[], outcome: Outcome): void {
    const open = tickets.filter((ticket) => this.#tickets.delete(ticket));
    const sessionSettled = this.isSettled;
    for (const ticket of open) {
      const { id, isTaken: agentInvoked } = ticket;
      const told = ticket.outcome ?? (isWaiting(ticket) ? { status: "aborted" as const } : outcome);
      this.#tell({ type: "prompt_result", ...(id === undefined ? {} : { id }), agentInvoked, ...told, sessionSettled });
    }
    if (!sessionSettled || (this.#isSettlingTold && open.length === 0)) return;
    this.#isSettlingTold = true;
    this.#tell({ type: "session_settled" });
  }

  #tell(frame: PromptResult | SessionSettled): void {
    if (this.#deps.features.has("prompt-result")) this.#deps.send(frame);
  }
}

function isWaiting({ place, isTaken }: Ticket): boolean {
  return place === "queue" && !isTaken;
}

function isDropped(ticket: Ticket, queued: ReadonlySet<AgentMessage>): boolean {
  return ticket.isAccepted && isWaiting(ticket) && ticket.message !== undefined && !queued.has(ticket.message);
}

/** It never reached the agent. What was only in the way of another run may go well later. */
function failureOf(thrown: unknown): Outcome {
  if (GalleyError.is(thrown, "aborted")) return { status: "aborted" };
  const retryable = thrown instanceof GalleyError && (thrown.code === "busy" || thrown.code === "timeout");
  return { status: "error", error: { message: messageOf(thrown), retryable } };
}
