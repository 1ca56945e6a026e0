// Texts too long for a conversation, one file each in the session's own directory: `<n>.<tool>.log` for outputs, and
// `<id>.plan` for a pending action's plan. Written once, never changed.

import * as fs from "node:fs/promises";
import { join } from "node:path";
import { GalleyError, systemCode } from "../base/errors.js";
import { writeWhole } from "./store-whole.js";

export interface ArtifactStore {
  /** Durable once it resolves. Answers the id: a number that counts up within the session. */
  save(toolName: string, text: string): Promise<string>;
  read(id: string): Promise<string | undefined>;
  /** Where it lies on the disk, if it does. */
  pathOf(id: string): Promise<string | undefined>;
  /** Replaces an earlier plan of the same action. */
  savePlan(pendingId: string, text: string): Promise<void>;
  readPlan(pendingId: string): Promise<string | undefined>;
}

export interface DiskArtifactOptions {
  readonly directory: string;
  ensureDirectory(path: string): void;
}

export function createDiskArtifacts({ directory, ensureDirectory }: DiskArtifactOptions): ArtifactStore {
  let last = 0;
  const find = async (id: string) => (await logNames(directory)).find((name) => name.startsWith(`${id}.`));
  const pathOf = async (id: string) => {
    const name = /^\d+$/.test(id) ? await find(id) : undefined;
    return name === undefined ? undefined : join(directory, name);
  };
  return {
    async save(toolName, text) {
      ensureDirectory(directory);
      if (last === 0) last = Math.max(await highestNumber(directory), last); // two first ones may come here at once
      for (;;) {
        const id = ++last;
        if (await writeWhole(join(directory, `${id}.${safeName(toolName)}.log`), text, true)) return `${id}`;
      }
    },
    async read(id) {
      const path = await pathOf(id);
      return path === undefined ? undefined : readIfThere(path);
    },
    pathOf,
    async savePlan(pendingId, text) {
      const name = planName(pendingId);
      ensureDirectory(directory);
      await writeWhole(join(directory, name), text);
    },
    readPlan: (pendingId) => readIfThere(join(directory, planName(pendingId))),
  };
}

/** For sessions that leave nothing on the disk. */
export function createMemoryArtifacts(): ArtifactStore {
  const texts: string[] = [];
  const plans = new Map<string, string>();
  return {
    save: async (_toolName, text) => `${texts.push(text)}`,
    read: async (id) => (/^\d+$/.test(id) ? texts[Number(id) - 1] : undefined),
    pathOf: async () => undefined,
    savePlan: async (pendingId, text) => void plans.set(planName(pendingId), text),
    readPlan: async (pendingId) => plans.get(planName(pendingId)),
  };
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

function planName(pendingId: string): string {
  if (!/^[\w-]{1,128}$/.test(pendingId))
    throw new GalleyError("invalid_argument", `Not the id of a pending action: ${pendingId}`);
  return `${pendingId}.plan`;
}
