// Everything that leaves through stdout, in order. Promises: frames of one tick share one write; deltas of one block
// are merged within a short window; memory is bounded while the host does not read, and nothing but merged updates is
// lost. A large frame goes out in pieces where the host agreed to it, with nothing between them.

import type { Clock } from "../base/clock.js";
import type { TextMask } from "../base/text-mask.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { encodeSafely, encodeUpdate, stubOf, type UpdateEvent } from "./encode.js";
import type { Features } from "./features.js";
import { chunkLines, maxReassembledFrameBytes, oversized, tooLarge } from "./frame-chunks.js";

/** The part of a Node stream that the outbox uses. */
export interface FrameOutput {
  write(text: string, onWritten?: () => void): boolean;
  once(event: "drain" | "error", listener: () => void): unknown;
  readonly writableLength: number;
}

export interface OutboxOptions {
  output: FrameOutput;
  features: Features;
  clock: Clock;
  budgetBytes?: number;
  mergeWindowMs?: number;
  /** What no frame may hold, asked for each; undefined while nothing is known. */
  mask?: () => TextMask | undefined;
}

interface PlainItem {
  readonly kind: "plain";
  readonly text: string;
  readonly bytes: number;
  readonly mayBeCut: boolean;
  /** Set for `tool_execution_update`: under pressure only the newest per call is kept. */
  readonly toolCallId?: string;
}

/** An update is serialised late, so that what was merged is never serialised. */
interface UpdateItem {
  readonly kind: "update";
  event: UpdateEvent;
  deltas: string[] | undefined;
  bytes: number;
  readonly stub: string | undefined;
  readonly messageId: string | undefined;
  readonly mayBeCut: boolean;
}
type Item = PlainItem | UpdateItem;

const frameOverheadBytes = 600;
const maxWriteBytes = 1024 * 1024;

export class Outbox {
  readonly #output: FrameOutput;
  readonly #features: Features;
  readonly #clock: Clock;
  #budget: number;
  readonly #windowMs: number;
  readonly #mask: () => TextMask | undefined;
  #queue: Item[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #isBlocked = false;
  #isBroken = false;
  #waiters: (() => void)[] = [];
  /** Called when the stream takes more, or breaks. */
  #flushers: (() => void)[] = [];
  /** The delta that waits for its window to pass, and when the last one of its kind went out. */
  #held: { item: UpdateItem; cancel: () => void } | undefined;
  #window: { key: string; openedAt: number } | undefined;
  #messages = 0;
  /** The reply under way, and its stub once that is asked for. */
  #reply: AssistantMessage | undefined;
  #stub: string | undefined;
  #messageBytes = 0;
  /** The pieces of a large frame that are still to be written, before anything else, and their size. */
  #pieces: { lines: Iterator<string, void>; bytes: number } | undefined;
  #cutFrames = 0;

  constructor(options: OutboxOptions) {
    const {
      output,
      features,
      clock,
      budgetBytes = 8 * 1024 * 1024,
      mergeWindowMs = 50,
      mask = () => undefined,
    } = options;
    this.#output = output;
    this.#mask = mask;
    this.#features = features;
    this.#clock = clock;
    this.#budget = budgetBytes;
    this.#windowMs = mergeWindowMs;
    output.once("error", () => this.#giveUp());
  }

  /** A frame that is no session event. */
  send(frame: object): void {
    this.#releaseHeld();
    this.#enqueue(this.#plain(frame));
  }

  /** A session event; the promise, if there is one, resolves when the reader has caught up. */
  sendEvent(event: AgentSessionEvent): Promise<void> | undefined {
    if (event.type === "message_start") this.#beginMessage(event.message);
    if (!this.#isWanted(event)) return undefined;
    if (event.type === "message_update") this.#sendUpdate(event);
    else {
      this.#releaseHeld();
      this.#enqueue(this.#plainEvent(event));
    }
    return this.isOverBudget ? this.drained() : undefined;
  }

  get isOverBudget(): boolean {
    const waiting = this.#queuedBytes + (this.#pieces?.bytes ?? 0);
    return !this.#isBroken && waiting + this.#output.writableLength > this.#budget;
  }

  /** Resolves when less than the budget waits. */
  drained(): Promise<void> {
    if (!this.isOverBudget) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** The session is being closed: what is still told of it is little, and must not wait for a host that does not read. */
  release(): void {
    this.#budget = Number.POSITIVE_INFINITY;
    this.#wake();
  }

  /** Resolves when everything was handed to the kernel; the caller sets a time limit. */
  async flushed(): Promise<void> {
    this.#releaseHeld();
    while (this.#queue.length > 0 || this.#pieces) {
      if (this.#isBlocked) await new Promise<void>((resolve) => this.#flushers.push(resolve));
      else this.#write();
    }
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write("", resolve));
  }

  /** The reader is gone: waiting frames cannot be delivered, so no caller may wait for them. */
  #giveUp(): void {
    this.#isBroken = true;
    this.#queue = [];
    this.#pieces = undefined;
    this.#queuedBytes = 0;
    this.#wake();
    this.#wakeFlushers();
  }

  #isWanted({ type }: AgentSessionEvent): boolean {
    return this.#features.wants(type) && (type !== "queue_update" || this.#features.has("queue-events"));
  }

  /** Needed for later updates, whether the host is told of the beginning or not. */
  #beginMessage(message: AgentMessage): void {
    this.#messages++;
    this.#messageBytes = 0;
    this.#window = undefined;
    this.#reply = message.role === "assistant" ? message : undefined;
    this.#stub = undefined;
  }

  #plain(frame: object): PlainItem {
    const mayBeCut = this.#features.version === 2;
    // A call of the host's own tool is what runs, not what is shown of it.
    const isExact = "type" in frame && frame.type === "host_tool_call";
    const whole = encodeSafely(frame, isExact ? undefined : this.#mask());
    const text = mayBeCut && isBeyondHosts(whole) ? encodeSafely(tooLarge(frame)) : whole;
    return { kind: "plain", text, bytes: text.length, mayBeCut };
  }

  #plainEvent(event: Exclude<AgentSessionEvent, { type: "message_update" }>): PlainItem {
    const isPair = event.type === "message_start" || event.type === "message_end";
    const named = isPair && this.#features.has("message-ids") ? { ...event, messageId: this.#messageId() } : event;
    if (event.type === "agent_end" && this.#features.has("state-events"))
      return this.#plain({ ...event, willRetry: event.willRetry ?? false });
    const item = this.#plain(named);
    return event.type === "tool_execution_update" ? { ...item, toolCallId: event.toolCallId } : item;
  }

  #messageId(): string {
    return `msg-${this.#messages}`;
  }

  #sendUpdate(event: UpdateEvent): void {
    const delta = deltaOf(event);
    this.#messageBytes += delta?.length ?? 0;
    const held = this.#held?.item;
    if (held && canMerge(held, event)) return merge(held, event, [delta ?? ""]);
    this.#releaseHeld();
    const item = this.#updateItem(event);
    const key = keyOf(event);
    const now = this.#clock.now();
    const waitMs = this.#window?.key === key ? this.#window.openedAt + this.#windowMs - now : 0;
    // More than the window: the clock was set back, and must not delay anything.
    if (delta !== undefined && waitMs > 0 && waitMs <= this.#windowMs) {
      this.#held = { item, cancel: this.#clock.after(waitMs, () => this.#releaseHeld()) };
      return;
    }
    this.#window = { key, openedAt: now };
    this.#enqueue(item);
  }

  #updateItem(event: UpdateEvent): UpdateItem {
    const stub = this.#features.has("delta-updates") ? this.#stubOfReply() : undefined;
    const messageId = this.#features.has("message-ids") ? this.#messageId() : undefined;
    // An estimate, because the exact size is only known once it is serialised: the frame holds the message twice.
    const body = stub === undefined ? 2 * this.#messageBytes : 2 * stub.length + (deltaOf(event)?.length ?? 0);
    const mayBeCut = this.#features.version === 2;
    return { kind: "update", event, deltas: undefined, bytes: frameOverheadBytes + body, stub, messageId, mayBeCut };
  }

  #stubOfReply(): string | undefined {
    if (this.#reply) this.#stub ??= stubOf(this.#reply);
    return this.#stub;
  }

  #releaseHeld(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = undefined;
    held.cancel();
    this.#window = { key: keyOf(held.item.event), openedAt: this.#clock.now() };
    this.#enqueue(held.item);
  }

  #enqueue(item: Item): void {
    if (this.#isBroken) return;
    const last = this.#queue.at(-1);
    // The host does not read just now: waiting frames may as well be merged into one.
    if (this.#isBlocked && item.kind === "update" && last?.kind === "update" && canMerge(last, item.event)) {
      const before = last.bytes;
      merge(last, item.event, item.deltas ?? [deltaOf(item.event) ?? ""]);
      this.#queuedBytes += last.bytes - before;
      return;
    }
    this.#queue.push(item);
    this.#queuedBytes += item.bytes;
    if (this.isOverBudget) this.#relieve();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isBlocked) this.#write();
    });
  }

  /** Over budget: neighbouring deltas of one block become one, of each call only the newest progress stays. */
  #relieve(): void {
    const newest = new Map<string, Item>();
    for (const item of this.#queue)
      if (item.kind === "plain" && item.toolCallId !== undefined) newest.set(item.toolCallId, item);
    const kept: Item[] = [];
    for (const item of this.#queue) {
      const last = kept.at(-1);
      if (item.kind === "plain") {
        if (item.toolCallId === undefined || newest.get(item.toolCallId) === item) kept.push(item);
      } else if (last?.kind === "update" && canMerge(last, item.event))
        merge(last, item.event, item.deltas ?? [deltaOf(item.event) ?? ""]);
      else kept.push(item);
    }
    this.#queue = kept;
    this.#queuedBytes = kept.reduce((sum, item) => sum + item.bytes, 0);
  }

  /** Writes waiting frames, in batches, until the stream is full. */
  #write(): void {
    let next = 0;
    let isBlocked = false;
    while ((next < this.#queue.length || this.#pieces) && !isBlocked) {
      let text = this.#nextPieces();
      for (let item = this.#queue[next]; item && text.length < maxWriteBytes; item = this.#queue[next]) {
        text += this.#lineOf(item);
        this.#queuedBytes -= item.bytes;
        next++;
        text += this.#nextPieces(text.length);
      }
      if (text !== "") isBlocked = !this.#output.write(text);
    }
    this.#queue = this.#queue.slice(next);
    this.#isBlocked = isBlocked;
    if (isBlocked)
      this.#output.once("drain", () => {
        this.#isBlocked = false;
        this.#write();
        this.#wakeFlushers();
      });
    if (!this.isOverBudget) this.#wake();
  }

  /** Nothing for a frame that has to be cut: its pieces come next. */
  #lineOf(item: Item): string {
    const text = textOf(item, this.#mask());
    const json = item.mayBeCut ? oversized(text) : undefined;
    if (!json) return text;
    this.#pieces = { lines: chunkLines(json, `rpc-${++this.#cutFrames}`), bytes: json.length };
    return "";
  }

  /** As many as still fit into a write. */
  #nextPieces(written = 0): string {
    let text = "";
    while (this.#pieces && written + text.length < maxWriteBytes) {
      const { value, done } = this.#pieces.lines.next();
      if (done) this.#pieces = undefined;
      else text += value;
    }
    return text;
  }

  #wakeFlushers(): void {
    for (const wake of this.#flushers.splice(0)) wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

function textOf(item: Item, mask: TextMask | undefined): string {
  if (item.kind === "plain") return item.text;
  const { event, deltas, stub, messageId, mayBeCut } = item;
  const text = encodeUpdate(event, deltas?.join(""), { stub, messageId, mask });
  return mayBeCut && isBeyondHosts(text) ? encodeSafely(tooLarge(event)) : text;
}

/** Without its line end, which is not part of what a host reassembles. */
function isBeyondHosts(line: string): boolean {
  return line.length * 3 > maxReassembledFrameBytes && Buffer.byteLength(line) - 1 > maxReassembledFrameBytes;
}

function deltaOf(event: UpdateEvent): string | undefined {
  const inner = event.assistantMessageEvent;
  return "delta" in inner ? inner.delta : undefined;
}

function keyOf(event: UpdateEvent): string {
  const inner = event.assistantMessageEvent;
  return `${inner.type} ${"contentIndex" in inner ? inner.contentIndex : ""}`;
}

/** The later event wins, since its snapshot is newer; the deltas of both are kept. */
function merge(item: UpdateItem, event: UpdateEvent, deltas: readonly string[]): void {
  item.deltas ??= [deltaOf(item.event) ?? ""];
  item.event = event;
  for (const delta of deltas) {
    item.deltas.push(delta);
    item.bytes += (item.stub === undefined ? 2 : 1) * delta.length;
  }
}

function canMerge(item: UpdateItem, event: UpdateEvent): boolean {
  return deltaOf(event) !== undefined && keyOf(item.event) === keyOf(event);
}
