// The conversation of a request as JSON, serialized once: a request repeats all earlier messages, and only those that are
// new since the last request are converted. The result is always the same as converting everything.

import type { ModelMessage, ProviderModel } from "../provider.js";
import { createNamer, type IdRule, type Namer, prepareReplay } from "../replay.js";
import { EncodedJson, jsonText } from "./json-body.js";

/** How one dialect writes a conversation. */
export interface Conversion<Wire extends object> {
  readonly model: ProviderModel;
  readonly idRule: IdRule;
  /** What else decides how a message is written. While it and the model stay the same, the written form is reused. */
  readonly variant: unknown;
  /** Writes further messages. May extend the last of `wire`, and needs only the part of it that is not final. */
  append(wire: Wire[], messages: readonly ModelMessage[]): void;
  /** How many of `wire`, from the first, no later message can change. */
  finalCount(wire: readonly Wire[]): number;
  /** The rest as it goes into this request. Changes nothing. */
  finish(wire: readonly Wire[]): readonly Wire[];
}

/** Beyond this size memory matters more than time: later messages are serialized for each request. */
const maxKeptBytes = 16 * 1024 * 1024;

/** By the list of messages of a session; garbage collected with the list. */
const kept = new WeakMap<readonly ModelMessage[], Kept<object>>();

/** `before` goes in front of the conversation. */
export function encodeConversation<Wire extends object>(
  messages: readonly ModelMessage[],
  conversion: Conversion<Wire>,
  before: readonly object[] = [],
): EncodedJson {
  let known = kept.get(messages) as Kept<Wire> | undefined;
  if (!known?.isStillTrue(messages, conversion)) {
    known = new Kept(conversion);
    kept.set(messages, known);
  }
  // A call without a result gets a placeholder, which a late result replaces: nothing here may be kept.
  if (!isAnswered(messages, known.count))
    return new EncodedJson(Buffer.from(`[${listText([...before, ...whole(messages, conversion)])}]`));
  known.add(messages, conversion);
  return known.encode(conversion, before);
}

function whole<Wire extends object>(messages: readonly ModelMessage[], conversion: Conversion<Wire>): readonly Wire[] {
  const wire: Wire[] = [];
  conversion.append(wire, prepareReplay(messages, conversion.model, createNamer(conversion.idRule)));
  return conversion.finish(wire);
}

class Kept<Wire extends object> {
  readonly #model: ProviderModel;
  readonly #variant: unknown;
  readonly #seen: ModelMessage[] = [];
  readonly #namer: Namer;
  readonly #final = new GrowingList();
  #open: Wire[] = [];

  constructor({ model, variant, idRule }: Conversion<Wire>) {
    this.#model = model;
    this.#variant = variant;
    this.#namer = createNamer(idRule);
  }

  get count(): number {
    return this.#seen.length;
  }

  isStillTrue(messages: readonly ModelMessage[], { model, variant }: Conversion<Wire>): boolean {
    return (
      model === this.#model &&
      variant === this.#variant &&
      this.#seen.every((message, index) => message === messages[index])
    );
  }

  add(messages: readonly ModelMessage[], conversion: Conversion<Wire>): void {
    const fresh = messages.slice(this.#seen.length);
    conversion.append(this.#open, prepareReplay(fresh, this.#model, this.#namer));
    for (const message of fresh) this.#seen.push(message);
    if (this.#final.sizeBytes > maxKeptBytes) return;
    this.#final.add(this.#open.splice(0, conversion.finalCount(this.#open)));
  }

  encode(conversion: Conversion<Wire>, before: readonly object[]): EncodedJson {
    const head = listText(before);
    const final = this.#final.bytes;
    const tail = listText(conversion.finish(this.#open));
    const isMiddle = final.length > 0;
    const first = `[${head}${head !== "" && (isMiddle || tail !== "") ? "," : ""}`;
    const last = `${isMiddle && tail !== "" ? "," : ""}${tail}]`;
    return isMiddle
      ? new EncodedJson(Buffer.from(first), final, Buffer.from(last))
      : new EncodedJson(Buffer.from(first + last));
  }
}

/** Without the brackets. */
function listText(members: readonly object[]): string {
  return jsonText(members).slice(1, -1);
}

/** Whether every call from there on has its result, by the same count as in `prepareReplay`. */
function isAnswered(messages: readonly ModelMessage[], from: number): boolean {
  const open = new Map<string, number>();
  let count = 0;
  for (let index = from; index < messages.length; index++) {
    const message = messages[index];
    if (message?.role === "toolResult") {
      const waiting = open.get(message.toolCallId) ?? 0;
      if (waiting === 0) continue; // a result without a call
      open.set(message.toolCallId, waiting - 1);
      count--;
    } else if (message?.role === "assistant")
      for (const block of message.content) {
        if (block.type !== "toolCall") continue;
        open.set(block.id, (open.get(block.id) ?? 0) + 1);
        count++;
      }
  }
  return count === 0;
}

/** The members of a list as JSON. To add some takes a time in proportion to their own length. */
class GrowingList {
  #buffer: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  add(members: readonly object[]): void {
    if (members.length === 0) return;
    const fresh = Buffer.from(`${this.#sizeBytes === 0 ? "" : ","}${listText(members)}`);
    const needed = this.#sizeBytes + fresh.length;
    if (this.#sizeBytes === 0) this.#buffer = fresh;
    else if (needed > this.#buffer.length)
      this.#buffer = Buffer.concat([this.bytes, fresh], Math.max(2 * this.#sizeBytes, needed));
    else fresh.copy(this.#buffer, this.#sizeBytes);
    this.#sizeBytes = needed;
  }
}
