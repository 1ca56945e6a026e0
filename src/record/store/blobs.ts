// Images, stored once under the hash of their bytes; entries name them by that hash. Reading verifies the hash: an image
// that is missing or damaged becomes a line of text, never bytes that a provider would refuse.

import { promises as fs } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { systemCode } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { blobPrefix, imageUnavailable } from "../stored-form.js";
import { writeWhole } from "./write-whole.js";

export interface BlobStore {
  /** Durable once it resolves. Answers the reference: `blob:sha256:<hash>`. */
  put(bytes: Buffer): Promise<string>;
  /** Undefined when there is no such blob, or its bytes are not what the name says. */
  get(reference: string): Promise<Buffer | undefined>;
}

const maxBlobBytes = 64 * 1024 * 1024;

export interface DiskBlobOptions {
  /** Where new blobs go. */
  readonly directory: string;
  /** Where else to look. */
  readonly alsoIn?: readonly string[];
  ensureDirectory(path: string): void;
}

export function createDiskBlobs({ directory, alsoIn = [], ensureDirectory }: DiskBlobOptions): BlobStore {
  return {
    async put(bytes) {
      const hash = sha256Of(bytes);
      const path = join(directory, hash);
      if (!(await isThere(path, bytes.length))) {
        ensureDirectory(directory);
        await writeWhole(path, bytes);
      }
      return `${blobPrefix}${hash}`;
    },
    async get(reference) {
      const hash = hashOf(reference);
      if (hash === undefined) return undefined;
      for (const place of [directory, ...alsoIn]) {
        const bytes = await readBounded(join(place, hash));
        if (bytes && sha256Of(bytes) === hash) return bytes;
      }
      return undefined;
    },
  };
}

/** `earlier` are only read. */
export function createMemoryBlobs(earlier?: BlobStore): BlobStore {
  const blobs = new Map<string, Buffer>();
  return {
    async put(bytes) {
      const reference = `${blobPrefix}${sha256Of(bytes)}`;
      blobs.set(reference, bytes);
      return reference;
    },
    get: async (reference) => blobs.get(reference) ?? earlier?.get(reference),
  };
}

/** Copies the blobs that the entries name. A missing one is skipped. */
export async function copyBlobs(entries: Iterable<object>, from: BlobStore, to: BlobStore): Promise<void> {
  for (const entry of entries)
    for (const [reference] of JSON.stringify(entry).matchAll(/blob:sha256:[0-9a-f]{64}/g)) {
      const bytes = await from.get(reference);
      if (bytes) await to.put(bytes);
    }
}

/** Finds the blobs that bytes name, whatever they are and however they are cut up. */
export class HashFinder {
  readonly named: Set<string>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(named = new Set<string>()) {
    this.named = named;
  }

  push(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#rest, chunk]);
    for (let start = bytes.indexOf(prefix); start !== -1; start = bytes.indexOf(prefix, start + 1))
      if (start + referenceBytes <= bytes.length)
        this.named.add(bytes.toString("latin1", start + prefix.length, start + referenceBytes));
    // The end may be the start of a name that continues in the next piece.
    this.#rest = Buffer.from(bytes.subarray(Math.max(0, bytes.length - referenceBytes + 1)));
  }
}

const prefix = Buffer.from(blobPrefix);
const referenceBytes = prefix.length + 64;

/** The messages with the bytes of their images in them. */
export async function resolveAllImages(messages: readonly AgentMessage[], blobs: BlobStore): Promise<AgentMessage[]> {
  const resolved = [...messages];
  // A wait for each of thousands would take longer than to find the few that name an image.
  for (let index = 0; index < resolved.length; index++) {
    const message = resolved[index] as AgentMessage;
    if (mayNameBlob(message)) resolved[index] = await resolveImages(message, blobs);
  }
  return resolved;
}

/** The same for what stands in entries. */
export async function resolveEntryImages(entries: readonly SessionEntry[], blobs: BlobStore): Promise<SessionEntry[]> {
  const resolved = [...entries];
  for (const [index, entry] of entries.entries()) {
    if (entry.type === "message" && isObject(entry.message) && mayNameBlob(entry.message))
      resolved[index] = { ...entry, message: await resolveImages(entry.message, blobs) };
    else if (entry.type === "custom_message" && hasReference(entry.content))
      resolved[index] = { ...entry, content: await resolveBlocks(entry.content, blobs) } as SessionEntry;
  }
  return resolved;
}

/** Whether it holds any image. Calls nothing: a long history is looked through as a whole, by code that is still cold. */
function mayNameBlob(message: AgentMessage): boolean {
  if (message.role === "fileMention") return true;
  const content: unknown = "content" in message ? message.content : undefined;
  if (!Array.isArray(content)) return false;
  for (let index = 0; index < content.length; index++) if (content[index]?.type === "image") return true;
  return false;
}

/** The message with the bytes of its images in it; the same object when it names no blob. */
export async function resolveImages<Message extends AgentMessage>(
  message: Message,
  blobs: BlobStore,
): Promise<Message> {
  if ("content" in message && hasReference(message.content))
    return { ...message, content: await resolveBlocks(message.content, blobs) };
  if (message.role !== "fileMention" || !Array.isArray(message.files)) return message;
  if (!message.files.some((file) => isObject(file) && isReference(file.image))) return message;
  const files = message.files.map(async (file) => {
    if (!isReference(file.image)) return file;
    const image = await resolveBlock(file.image, blobs);
    const { image: _, ...rest } = file;
    return isObject(image) && image.type === "image" ? { ...file, image } : { ...rest, content: imageUnavailable };
  });
  return { ...message, files: await Promise.all(files) };
}

function hasReference(content: unknown): content is unknown[] {
  if (!Array.isArray(content)) return false;
  for (const block of content) if (isReference(block)) return true;
  return false;
}

function resolveBlocks(blocks: readonly unknown[], blobs: BlobStore): Promise<unknown[]> {
  return Promise.all(blocks.map((block) => resolveBlock(block, blobs)));
}

async function resolveBlock(block: unknown, blobs: BlobStore): Promise<unknown> {
  if (!isReference(block)) return block;
  const bytes = await blobs.get(block.data);
  return bytes ? { ...block, data: bytes.toString("base64") } : { type: "text", text: imageUnavailable };
}

function isReference(block: unknown): block is { type: "image"; data: string } {
  return (
    isObject(block) && block.type === "image" && typeof block.data === "string" && block.data.startsWith(blobPrefix)
  );
}

function hashOf(reference: string): string | undefined {
  const hash = reference.startsWith(blobPrefix) ? reference.slice(blobPrefix.length) : "";
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}

/** Touches it, so that garbage collection sees that the blob is in use again. */
async function isThere(path: string, bytes: number): Promise<boolean> {
  try {
    const { size } = await fs.stat(path);
    if (size !== bytes) return false;
    const now = new Date();
    await fs.utimes(path, now, now);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function readBounded(path: string): Promise<Buffer | undefined> {
  try {
    const status = await fs.stat(path);
    return status.isFile() && status.size <= maxBlobBytes ? await fs.readFile(path) : undefined;
  } catch {
    return undefined; // missing, or not ours to read: either way there is no image
  }
}
