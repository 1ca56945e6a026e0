// The line that stands for an entry in the file. Nearly always its plain JSON. What would make a line too long to read
// back goes elsewhere first (images to blobs, long texts to artifacts) and the line names the place; the entry in
// memory stays whole. Promises a line that our own reader takes, whatever the entry holds.

import { isObject, type JsonObject } from "../base/json.js";
import { asLine, maxKeysPerObject, maxNesting } from "../base/ndjson.js";
import type { SessionEntry } from "../protocol/entries.js";
import { maxLineBytes } from "./read-entries.js";

export const cutNotice = "[Session persistence truncated large content]";
export const blobPrefix = "blob:sha256:";
export const imageUnavailable = "[image unavailable]";

const minBlobChars = 1024;
/** Deeper than this and the reader, which counts brackets, might refuse. */
const maxDepth = maxNesting - 8;

/** Where large content goes. Undefined means that it could not be kept there: the line then does without. */
export interface StoredFormSinks {
  /** Answers what stands for the bytes in `data`. */
  saveImage(bytes: Buffer): Promise<string | undefined>;
  /** Answers the artifact's id. */
  saveText(text: string): Promise<string | undefined>;
}

/** The line of an entry that can be written as it is; undefined when it needs `storedLine`. */
export function plainLine(entry: SessionEntry): Buffer | undefined {
  if (!isPlain(entry, 1)) return undefined;
  const line = Buffer.from(asLine(JSON.stringify(entry)));
  return line.length <= maxLineBytes ? line : undefined;
}

/** Each step keeps less in the line, until it fits. */
const steps: readonly Limits[] = [
  { stringChars: 500_000, nodeChars: Number.POSITIVE_INFINITY, imageChars: 1_500_000 },
  { stringChars: 50_000, nodeChars: Number.POSITIVE_INFINITY, imageChars: 0 },
  { stringChars: 5_000, nodeChars: 100_000, imageChars: 0 },
];

interface Limits {
  readonly stringChars: number;
  /** Of a whole list or object, as JSON. */
  readonly nodeChars: number;
  /** Of an image that could not be made a blob. */
  readonly imageChars: number;
}

export async function storedLine(entry: SessionEntry, sinks: StoredFormSinks): Promise<Buffer> {
  const plain = plainCopy(entry);
  for (const limits of steps) {
    // First without saving anything, so that a step that will not do leaves nothing behind.
    if ((await shapedLine(plain, limits, nowhere)).length > maxLineBytes) continue;
    const line = await shapedLine(plain, limits, sinks);
    if (line.length <= maxLineBytes) return line;
  }
  const artifactId = await sinks.saveText(JSON.stringify(plain));
  const { type, id, parentId, timestamp } = entry;
  return lineOf({
    type,
    id,
    parentId,
    timestamp,
    notice: cutNotice,
    ...(artifactId === undefined ? {} : { artifactId }),
  });
}

const nowhere: StoredFormSinks = {
  saveImage: async () => `${blobPrefix}${"0".repeat(64)}`,
  saveText: async () => "0".repeat(16),
};

async function shapedLine(plain: JsonObject, limits: Limits, sinks: StoredFormSinks): Promise<Buffer> {
  const shaper = new Shaper(limits, sinks);
  const shaped = (await shaper.value(plain, 1)) as JsonObject;
  const [artifactId, ...more] = shaper.artifactIds;
  if (artifactId === undefined) return lineOf(shaped);
  return lineOf({ ...shaped, artifactId, ...(more.length === 0 ? {} : { artifactIds: shaper.artifactIds }) });
}

function lineOf(value: object): Buffer {
  return Buffer.from(asLine(JSON.stringify(value)));
}

/** One copy of an entry with the large things moved out. */
class Shaper {
  readonly artifactIds: string[] = [];
  readonly #limits: Limits;
  readonly #sinks: StoredFormSinks;

  constructor(limits: Limits, sinks: StoredFormSinks) {
    this.#limits = limits;
    this.#sinks = sinks;
  }

  /** `isForeign` inside a call's arguments, where every name is the model's own. */
  async value(value: unknown, depth: number, isForeign = false): Promise<unknown> {
    if (typeof value === "string") return value.length > this.#limits.stringChars ? this.#cut(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (this.#isTooLarge(value, depth)) {
      await this.#keep(JSON.stringify(value));
      return cutNotice;
    }
    if (!Array.isArray(value)) return this.#object(value as JsonObject, depth, isForeign);
    const items: unknown[] = [];
    for (const item of value) if (!this.#isLostBlock(item)) items.push(await this.value(item, depth + 1, isForeign));
    return items;
  }

  async #object(value: JsonObject, depth: number, isForeign: boolean): Promise<unknown> {
    if (isInlineImage(value)) return this.#image(value);
    const members: [string, unknown][] = [];
    let wasCut = false;
    for (const [key, member] of Object.entries(value)) {
      if (!isForeign && transientKeys.has(key)) continue;
      if (isSignature(key) && typeof member === "string" && member.length > this.#limits.stringChars) continue;
      const kept = await this.value(member, depth + 1, isForeign || key === "arguments");
      if (typeof member === "string" && kept !== member) wasCut = true;
      members.push([key, kept]);
    }
    // A signature vouches for the text beside it, and no longer does when that was cut.
    return Object.fromEntries(wasCut ? members.filter(([key]) => !isSignature(key)) : members);
  }

  async #image(image: JsonObject & { data: string }): Promise<unknown> {
    const bytes = decodeBase64(image.data);
    const reference = bytes && (await this.#sinks.saveImage(bytes));
    if (reference !== undefined) return { ...image, data: reference };
    if (image.data.length <= this.#limits.imageChars) return image;
    await this.#keep(image.data);
    return { type: "text", text: imageUnavailable };
  }

  async #cut(text: string): Promise<string> {
    await this.#keep(text);
    const head = text.slice(0, this.#limits.stringChars - cutNotice.length - 2);
    // Not between the halves of a character.
    return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}\n\n${cutNotice}`;
  }

  async #keep(text: string): Promise<void> {
    const id = await this.#sinks.saveText(text);
    if (id !== undefined) this.artifactIds.push(id);
  }

  #isTooLarge(value: object, depth: number): boolean {
    if (depth > maxDepth || Object.keys(value).length > maxKeysPerObject / 2) return true;
    // Not the entry and not its message: they are what the line is for.
    const { nodeChars } = this.#limits;
    return depth > 2 && nodeChars !== Number.POSITIVE_INFINITY && JSON.stringify(value).length > nodeChars;
  }

  /** Opaque to us and worthless when cut. */
  #isLostBlock(item: unknown): boolean {
    return isObject(item) && item.type === "redactedThinking" && String(item.data).length > this.#limits.stringChars;
  }
}

/** Marks of a reply under way, of no use once it is whole. */
const transientKeys: ReadonlySet<string> = new Set(["partialJson", "jsonlEvents"]);

function isSignature(key: string): boolean {
  return /signature$/i.test(key);
}

function isInlineImage(value: JsonObject): value is JsonObject & { data: string } {
  const { type, data } = value;
  return type === "image" && typeof data === "string" && data.length >= minBlobChars && !data.startsWith(blobPrefix);
}

/** Undefined unless the text is base64 through and through; other alphabets and missing padding are understood. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  const canonical = text.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return bytes.toString("base64").replace(/=+$/, "") === canonical ? bytes : undefined;
}

/** True when the JSON of the value is the line we want. Looks at every member, not into texts. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return value.length <= (steps[0]?.stringChars ?? 0);
    case "bigint":
      return false;
    case "object":
      if (value === null) return true;
      break;
    default:
      return true;
  }
  if (depth > maxDepth) return false; // so that a circle ends here, too
  try {
    if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
    const object = value as JsonObject;
    if (typeof object.toJSON === "function" || isInlineImage(object)) return false;
    const keys = Object.keys(object);
    if (keys.length > maxKeysPerObject / 2) return false;
    return keys.every((key) => !transientKeys.has(key) && isPlain(object[key], depth + 1));
  } catch {
    return false; // a getter that throws: the careful way knows what to do with it
  }
}

/** What JSON makes of the entry; where JSON gives up (circles, large integers, getters), a copy that says so. */
function plainCopy(entry: SessionEntry): JsonObject {
  try {
    return JSON.parse(JSON.stringify(entry)) as JsonObject;
  } catch {
    return tame(entry, 1, new Set()) as JsonObject;
  }
}

function tame(value: unknown, depth: number, above: ReadonlySet<unknown>): unknown {
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null)
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  if (above.has(value)) return "[circular]";
  if (depth > maxDepth) return "[nested too deeply]";
  const inside = new Set(above).add(value);
  try {
    if (Array.isArray(value)) return value.map((item) => tame(item, depth + 1, inside) ?? null);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, tame(member, depth + 1, inside)]));
  } catch {
    return "[unreadable]"; // the object refuses to be looked at, and there is nothing else to tell
  }
}
