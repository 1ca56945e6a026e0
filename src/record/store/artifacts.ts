// Texts too long for a conversation, one file each in the session's own directory: `<n>.<tool>.log` for outputs,
// `<id>.plan` for a pending action's plan, and `<id>.<revision>.plan` for what a later revision changed. Written once, or
// grown by the tool that runs; never changed after that.

import { createHash, type Hash } from "node:crypto";
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { GalleyError, systemCode } from "../../base/errors.js";
import { maskBytes, noMask, type TextMask } from "../../base/text-mask.js";
import type { ArtifactSource, ArtifactWriter } from "../../tools/tool.js";
import { artifactDirectory } from "../session-paths.js";
import { nodeDisk } from "./session-disk.js";
import { writeWhole } from "./write-whole.js";

type FileHandle = Awaited<ReturnType<typeof fs.open>>;

/** What `open` gives grows under its id while it is written, and is durable once `close` resolves. */
export interface ArtifactStore extends ArtifactSource {
  /** Durable once it resolves. Answers the id: a number that counts up within the session. */
  save(toolName: string, text: string): Promise<string>;
  read(id: string): Promise<string | undefined>;
  /** Where it lies on the disk, if it does. */
  pathOf(id: string): Promise<string | undefined>;
  /**
   * Once, before an entry names it with the digest that this answers. What a process that died left under the name is
   * replaced: no entry names that.
   */
  savePlan(planRef: string, pieces: Iterable<string>): Promise<string>;
  /** Throws `file_changed` for another text than the digest stands for. Undefined also for what is no name of a plan. */
  readPlan(planRef: string, sha256?: string): Promise<string | undefined>;
}

export interface DiskArtifactOptions {
  readonly directory: string;
  ensureDirectory(path: string): void;
  /** What no output may hold; plans are exact. */
  readonly mask?: TextMask | undefined;
}

export function createDiskArtifacts({ directory, ensureDirectory, mask = noMask }: DiskArtifactOptions): ArtifactStore {
  let last = 0;
  const find = async (id: string) => (await logNames(directory)).find((name) => name.startsWith(`${id}.`));
  const pathOf = async (id: string) => {
    const name = /^\d+$/.test(id) ? await find(id) : undefined;
    return name === undefined ? undefined : join(directory, name);
  };
  /** Tries numbers until one is free; `make` answers undefined for one that is taken. */
  const underNewNumber = async <T>(toolName: string, make: (path: string) => Promise<T | undefined>) => {
    ensureDirectory(directory);
    if (last === 0) last = Math.max(await highestNumber(directory), last); // two first ones may come here at once
    for (;;) {
      const id = `${++last}`;
      const made = await make(join(directory, `${id}.${safeName(toolName)}.log`));
      if (made !== undefined) return { id, made };
    }
  };
  return {
    async save(toolName, text) {
      const shown = mask.mask(text);
      const { id } = await underNewNumber(toolName, async (path) => (await writeWhole(path, shown, true)) || undefined);
      return id;
    },
    async open(toolName) {
      const { id, made } = await underNewNumber(toolName, async (path) => {
        const file = await openNew(path);
        return file && { file, path };
      });
      const writer = diskWriter(id, made, directory);
      return mask.isActive ? maskedWriter(writer, mask) : writer;
    },
    async read(id) {
      const path = await pathOf(id);
      return path === undefined ? undefined : readIfThere(path);
    },
    async readBytes(id, maxBytes) {
      const path = await pathOf(id);
      return path === undefined ? undefined : readHead(path, maxBytes);
    },
    pathOf,
    async savePlan(planRef, pieces) {
      const name = checkedName(planRef);
      ensureDirectory(directory);
      const hash = createHash("sha256");
      await writeWhole(join(directory, name), digested(pieces, hash));
      return hash.digest("hex");
    },
    async readPlan(planRef, sha256) {
      const text = isPlanName(planRef) ? await readIfThere(join(directory, planRef)) : undefined;
      if (text !== undefined && sha256 !== undefined && sha256Of(text) !== sha256)
        throw new GalleyError("file_changed", "it is cut, or was changed since");
      return text;
    },
  };
}

function* digested(pieces: Iterable<string>, hash: Hash): Generator<string, void, undefined> {
  for (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}

async function readHead(path: string, maxBytes: number): Promise<{ bytes: Uint8Array; isTruncated: boolean }> {
  const file = await fs.open(path, "r");
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    let length = 0;
    for (let count = -1; length < buffer.length && count !== 0; length += count)
      count = (await file.read(buffer, length, buffer.length - length, length)).bytesRead;
    return { bytes: buffer.subarray(0, length), isTruncated: size > maxBytes };
  } finally {
    await file.close();
  }
}

async function openNew(path: string): Promise<FileHandle | undefined> {
  try {
    return await fs.open(path, "wx", 0o600);
  } catch (error) {
    if (systemCode(error) === "EEXIST") return undefined;
    throw error;
  }
}

function diskWriter(id: string, { file, path }: { file: FileHandle; path: string }, directory: string): ArtifactWriter {
  return {
    id,
    path,
    write: (bytes) => file.writeFile(bytes), // goes on where the last write ended, and writes all of it
    async close() {
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      await nodeDisk.syncDirectory(directory);
    },
  };
}

function maskedWriter({ id, path, write, close }: ArtifactWriter, mask: TextMask): ArtifactWriter {
  const masking = maskBytes(mask.stream());
  return {
    id,
    path,
    write: (bytes) => write(masking.push(bytes)),
    async close() {
      try {
        await write(masking.end());
      } finally {
        await close();
      }
    },
  };
}

/** What all outputs written bit by bit may take of the memory. */
export const maxMemoryBytes = 64 * 1024 * 1024;

/** Whether a session file has plans beside it: only then can anything in it be pending. */
export async function hasPlans(sessionFile: string): Promise<boolean> {
  return (await plannedIds(sessionFile)).length > 0;
}

/** The actions that have a plan beside a session file. */
export async function plannedIds(sessionFile: string): Promise<string[]> {
  const names = await fs.readdir(artifactDirectory(sessionFile)).catch(() => []); // no directory, no plans
  return names.flatMap((name) => /^(pa_\d+)\.(?:\d+\.)?plan$/.exec(name)?.[1] ?? []);
}

/** For a session that continues one on the disk in memory: the outputs there are only read, and keep their ids. */
export async function createArtifactsAfter(sessionFile: string): Promise<ArtifactStore> {
  const directory = artifactDirectory(sessionFile);
  const store = createDiskArtifacts({ directory, ensureDirectory: () => {} });
  return createMemoryArtifacts({ store, count: await highestNumber(directory) });
}

/** For sessions that leave nothing on the disk. */
export function createMemoryArtifacts(earlier?: { store: ArtifactStore; count: number }): ArtifactStore {
  const texts: (string | GrowingBytes)[] = [];
  const plans = new Map<string, string>();
  let grownBytes = 0;
  const first = (earlier?.count ?? 0) + 1;
  const add = (text: string | GrowingBytes) => `${texts.push(text) - 1 + first}`;
  const find = (id: string) => (/^\d+$/.test(id) ? texts[Number(id) - first] : undefined);
  return {
    save: async (_toolName, text) => add(text),
    async open() {
      const content = new GrowingBytes();
      return {
        id: add(content),
        async write(bytes) {
          grownBytes += bytes.length;
          content.append(bytes);
          if (grownBytes <= maxMemoryBytes) return;
          grownBytes -= content.clear(); // half an output is worth less than room for the next one
          throw new GalleyError("unsupported", "a session without a file has no room for more output");
        },
        close: async () => {},
      };
    },
    read: async (id) => find(id)?.toString() ?? earlier?.store.read(id),
    async readBytes(id, maxBytes) {
      const content = find(id);
      if (content === undefined) return earlier?.store.readBytes(id, maxBytes);
      const bytes = typeof content === "string" ? Buffer.from(content) : content.bytes();
      return { bytes: bytes.subarray(0, maxBytes), isTruncated: bytes.length > maxBytes };
    },
    pathOf: async (id) => earlier?.store.pathOf(id),
    async savePlan(planRef, pieces) {
      const text = [...pieces].join("");
      plans.set(checkedName(planRef), text);
      return sha256Of(text);
    },
    readPlan: async (planRef) => plans.get(planRef),
  };
}

class GrowingBytes {
  #buffer = Buffer.alloc(0);
  #length = 0;

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(2 * length); // doubled, so that many small bits are not copied each time
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** Answers how many bytes it held. */
  clear(): number {
    const held = this.#length;
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return held;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  toString(): string {
    return this.#buffer.toString("utf8", 0, this.#length);
  }
}

/** The outputs, not the plans: a pending action stays with the session that staged it. */
export async function copyArtifacts(from: string, to: string, ensureDirectory: (path: string) => void): Promise<void> {
  const names = await logNames(from);
  if (names.length === 0) return;
  ensureDirectory(to);
  for (const name of names)
    await fs.link(join(from, name), join(to, name)).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") return fs.copyFile(join(from, name), join(to, name));
    });
}

async function highestNumber(directory: string): Promise<number> {
  const numbers = (await logNames(directory)).map((name) => Number.parseInt(name, 10));
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

async function logNames(directory: string): Promise<string[]> {
  try {
    return (await fs.readdir(directory)).filter((name) => /^\d{1,15}\.[\w-]+\.log$/.test(name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function safeName(toolName: string): string {
  return toolName.replace(/[^\w-]/g, "_").slice(0, 64) || "tool";
}

function checkedName(planRef: string): string {
  if (isPlanName(planRef)) return planRef;
  throw new GalleyError("invalid_argument", `Not the name of a plan: ${planRef}`);
}

/** An entry of a session file gives the name: it must not lead anywhere else. */
function isPlanName(planRef: string): boolean {
  return /^[\w-]{1,128}(?:\.\d{1,15})?\.plan$/.test(planRef);
}
