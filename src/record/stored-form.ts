// The line of an entry in the file, nearly always its plain JSON. Content that would make the line too long to read back
// is saved first (images as blobs, long texts as artifacts), and the line refers to it; the entry in memory stays whole.
// Whatever the entry holds, our own reader can read the line.

import { isObject, type JsonObject } from "../base/json.js";
import { asLine, maxNesting } from "../base/ndjson.js";
import { maskDeep, noMask, type TextMask } from "../base/text-mask.js";
import type { SessionEntry } from "../protocol/entries.js";
import { maxLineBytes } from "./read/parse-line.js";

export const cutNotice = "[Session persistence truncated large content]";
export const blobPrefix = "blob:sha256:";
export const imageUnavailable = "[image unavailable]";

const minBlobChars = 1024;
/** Within what the reader takes. */
const maxDepth = maxNesting - 8;

/**
 * Where large content is saved. Undefined means that it cannot be saved: the line is then written without it. A sink that
 * throws has no room now: the entry is not written until it has.
 */
export interface StoredFormSinks {
  /** Answers what stands for the bytes in `data`. */
  saveImage(bytes: Buffer): Promise<string | undefined>;
  /** Answers the artifact's id. */
  saveText(text: string): Promise<string | undefined>;
}

/** The line of an entry that can be written as it is; undefined when it needs `storedLine`. */
export function plainLine(entry: SessionEntry, mask?: TextMask): Buffer | undefined {
  return isPlain(entry, 1) ? lineOf(entry, mask) : undefined;
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

/** Throws what a sink throws. */
export async function storedLine(entry: SessionEntry, sinks: StoredFormSinks, mask = noMask): Promise<Buffer> {
  // Before it is cut: half a secret would not be found.
  const plain = mask.isActive ? maskDeep(plainCopy(entry), mask.mask) : plainCopy(entry);
  for (const limits of steps) {
    const shaper = new Shaper(limits);
    const shaped = shaper.value(plain, 1) as JsonObject;
    // A step that will not do leaves nothing behind: saving comes after.
    if (!lineOf(shaped)) continue;
    const line = lineOf({ ...shaped, ...(await shaper.save(sinks)) });
    if (line) return line;
  }
  const { type, id, parentId, timestamp } = entry;
  const whole = jsonOf(plain);
  const artifactId = whole === undefined ? undefined : await sinks.saveText(whole);
  const bare = { type, id, parentId, timestamp, notice: cutNotice, artifactId };
  return Buffer.from(asLine(JSON.stringify(bare)));
}

/** Undefined when it would be too long to be read back. */
function lineOf(value: object, mask?: TextMask): Buffer | undefined {
  const json = jsonOf(value);
  if (json === undefined || json.length > maxLineBytes) return undefined;
  const line = Buffer.from(asLine(json, mask));
  return line.length <= maxLineBytes ? line : undefined;
}

/** Undefined when there is no such string: it has its own limits. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** One copy of an entry without its large things, which are then saved. */
class Shaper {
  readonly #limits: Limits;
  readonly #images: { copy: JsonObject; data: string; bytes: Buffer }[] = [];
  readonly #texts: string[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** `isForeign` inside a call's arguments, where every name is the model's own. */
  value(value: unknown, depth: number, isForeign = false): unknown {
    if (typeof value === "string") return value.length > this.#limits.stringChars ? this.#cut(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (this.#isTooLarge(value, depth)) {
      const text = jsonOf(value);
      if (text !== undefined) this.#texts.push(text);
      return cutNotice;
    }
    if (!Array.isArray(value)) return this.#object(value as JsonObject, depth, isForeign);
    return value.filter((item) => !this.#isLostBlock(item)).map((item) => this.value(item, depth + 1, isForeign));
  }

  /** Puts what was taken out where it belongs, and answers the members that say where that is. */
  async save({ saveImage, saveText }: StoredFormSinks): Promise<{ artifactId?: string; artifactIds?: string[] }> {
    for (const { copy, data, bytes } of this.#images) {
      const mayStay = data.length <= this.#limits.imageChars;
      const reference = await saveImage(bytes).catch((error: unknown) => {
        if (!mayStay) throw error;
        return undefined;
      });
      if (reference !== undefined) copy.data = reference;
      else if (mayStay) copy.data = data;
      else this.#loseImage(copy, data);
    }
    const artifactIds: string[] = [];
    for (const text of this.#texts) {
      const id = await saveText(text);
      if (id !== undefined) artifactIds.push(id);
    }
    const [artifactId] = artifactIds;
    if (artifactId === undefined) return {};
    return artifactIds.length === 1 ? { artifactId } : { artifactId, artifactIds };
  }

  #object(value: JsonObject, depth: number, isForeign: boolean): unknown {
    if (!isForeign && isInlineImage(value)) return this.#image(value);
    const members: [string, unknown][] = [];
    let wasCut = false;
    for (const [key, member] of Object.entries(value)) {
      if (!isForeign && transientKeys.has(key)) continue;
      if (isSignature(key) && typeof member === "string" && member.length > this.#limits.stringChars) continue;
      // The message is what the line is for: it may lose parts, but never goes as one.
      const isMessage = depth === 1 && key === "message" && isObject(member);
      const kept = isMessage
        ? this.#object(member, 2, false)
        : this.value(member, depth + 1, isForeign || key === "arguments");
      if (typeof member === "string" && kept !== member) wasCut = true;
      members.push([key, kept]);
    }
    // A signature vouches for the text beside it, and no longer does when that was cut.
    return Object.fromEntries(wasCut ? members.filter(([key]) => !isSignature(key)) : members);
  }

  #image(image: JsonObject & { data: string }): JsonObject {
    const bytes = decodeBase64(image.data);
    const copy: JsonObject = { ...image };
    if (bytes) {
      copy.data = blobPrefix.padEnd(blobPrefix.length + 64); // as long as it will be
      this.#images.push({ copy, data: image.data, bytes });
    } else if (image.data.length > this.#limits.imageChars) this.#loseImage(copy, image.data);
    return copy;
  }

  #loseImage(copy: JsonObject, data: string): void {
    this.#texts.push(data);
    for (const key of Object.keys(copy)) delete copy[key];
    copy.type = "text";
    copy.text = imageUnavailable;
  }

  #cut(text: string): string {
    this.#texts.push(text);
    const head = text.slice(0, this.#limits.stringChars - cutNotice.length - 2);
    // Not between the halves of a character.
    return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}\n\n${cutNotice}`;
  }

  #isTooLarge(value: object, depth: number): boolean {
    if (depth > maxDepth) return true;
    const { nodeChars } = this.#limits;
    return depth > 1 && nodeChars !== Number.POSITIVE_INFINITY && (jsonOf(value)?.length ?? nodeChars + 1) > nodeChars;
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
  const canonical = text.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return unpadded(bytes.toString("base64")) === unpadded(canonical) ? bytes : undefined;
}

/** By hand: a pattern would start again at each of a million characters that are not the end. */
function unpadded(base64: string): string {
  let end = base64.length;
  while (base64[end - 1] === "=") end--;
  return base64.slice(0, end);
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
    return Object.keys(object).every((key) => !transientKeys.has(key) && isPlain(object[key], depth + 1));
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
