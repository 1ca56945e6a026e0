// A project on the simulated disk before and after a change set, and how to say what is wrong with what came of it.

import { createHash } from "node:crypto";
import { isTempName } from "../files/disk/temp-names.js";
import type { ChangeOp } from "./change-set.js";
import { decodeRecords } from "./records.js";
import { type Found, type Kind, SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

export const directories = { root: "/p", journalDir: "/agent/journal", undoDir: "/agent/undo" };
export const txid = "0123456789abcdef0123456789abcdef";
const undoRecord = `${directories.undoDir}/${txid}.gu`;

interface Shape {
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  /** Only where the change set says so. */
  readonly modifiedMs?: number;
}

export interface Scene {
  readonly kind: Kind;
  readonly before: ReadonlyMap<string, Shape>;
  readonly after: ReadonlyMap<string, Shape>;
  readonly ops: readonly ChangeOp[];
}

/** 1 to `maxOps` ops of all kinds, in directories old and new, on a disk of any kind. */
export function randomScene(random: Random, maxOps: number): Scene {
  const kind = pick(random, [{}, {}, {}, { hasNoLinks: true }, { foldsCase: true }]);
  const before = new Map<string, Shape>([["/p/untouched", { text: "stays", mode: 0o640, uid: 7 }]]);
  const after = new Map(before);
  const ops: ChangeOp[] = [];
  const count = 1 + Math.floor(random() * maxOps);
  for (let index = 0; index < count; index++) {
    const path = `${pick(random, ["/p", "/p/a", "/p/b/c", `/p/new${index % 3}/deep`])}/f${index}`;
    const mode = pick(random, [0o644, 0o755, 0o2775, 0o1600, 0o444]);
    const old = { text: `old ${index}`, mode, uid: pick(random, [1000, 7]) };
    const text = `new ${index} ${"x".repeat(Math.floor(random() * 40))}`;
    const wish = random() < 0.3 ? { mode: 0o711, mtimeMs: 5_000_000 + index } : {};
    const fresh = { text, mode: wish.mode ?? 0o666, uid: 1000, ...(wish.mtimeMs ? { modifiedMs: wish.mtimeMs } : {}) };
    const kept = { ...fresh, mode: wish.mode ?? old.mode, uid: old.uid };
    const named = { path, shownPath: path.slice(3) };
    // Of some files the old bytes are at hand, as they are after a preview.
    const atHand = index % 2 === 0 ? { beforeBytes: Buffer.from(old.text) } : {};
    const seen = { ...named, beforeHash: hashOf(old.text), force: true, ...atHand };
    const content = { bytes: Buffer.from(text), ...wish };
    const opKind = pick(random, ["modify", "create", "delete", "rename", "respell"] as const);
    if (opKind !== "create") before.set(path, old);
    if (opKind === "modify") {
      ops.push({ kind: opKind, ...seen, ...content });
      after.set(path, kept);
    } else if (opKind === "create") {
      ops.push({ kind: opKind, ...named, ...content });
      after.set(path, fresh);
    } else if (opKind === "delete") ops.push({ kind: opKind, ...seen });
    else {
      const to = opKind === "rename" ? `${path}-moved` : path.replace("/f", "/F");
      ops.push({ kind: "rename", ...seen, to, shownTo: to.slice(3), ...content });
      after.set(to, kept);
    }
  }
  return { kind, before, after, ops };
}

export function setUpDisk({ before, kind }: Scene): SimDisk {
  const disk = new SimDisk(kind);
  disk.mkdirp("/p");
  for (const [path, { text, mode, uid }] of before) disk.write(path, text, { mode, uid });
  disk.mkdirp(directories.journalDir);
  disk.mkdirp(directories.undoDir);
  return disk;
}

export interface Expected {
  /** The disk before anything happened. */
  readonly old: ReadonlyMap<string, Found | null>;
  /** Where only one of the two ends is right. */
  readonly must?: "old" | "new" | undefined;
  /** A later recovery may tidy up. */
  readonly mayBeUntidy?: boolean;
}

/** What is wrong with the files after recovery, or undefined. */
export function problemOf(disk: SimDisk, scene: Scene, { old, must, mayBeUntidy }: Expected): string | undefined {
  const tree = disk.tree();
  const files = filesOf(tree, mayBeUntidy);
  const isOld = same(files, filesOf(old), (a, b) => isUnchanged(a, b, scene.kind));
  const isNew = same(files, scene.after, isAs);
  if (!isOld && !isNew) return `torn: ${JSON.stringify([...files])} of ${JSON.stringify([...scene.after])}`;
  if (must === "new" && !isNew) return "old where only new is right";
  if (must === "old" && !isOld) return "new where only old is right";
  if (isNew && !isSound(tree.get(undoRecord), scene)) return "new without an undo record that can be used";
  return mayBeUntidy ? undefined : untidyOf(tree, isNew);
}

function untidyOf(tree: ReadonlyMap<string, Found | null>, isNew: boolean): string | undefined {
  const leftOver = [...tree.keys()].filter((path) => {
    if (path.endsWith("/")) return !isNew && path.startsWith("/p/new");
    return path.startsWith("/agent/") && !(isNew && path === undoRecord);
  });
  return leftOver.length > 0 ? `left over: ${leftOver.join(", ")}` : undefined;
}

function filesOf(tree: ReadonlyMap<string, Found | null>, isWithoutOurs = false): Map<string, Found> {
  const files = [...tree].flatMap(([path, found]) => (found && path.startsWith("/p/") ? [[path, found] as const] : []));
  return new Map(files.filter(([path]) => !isWithoutOurs || !isTempName(path.slice(path.lastIndexOf("/") + 1))));
}

function same<A, B>(a: ReadonlyMap<string, A>, b: ReadonlyMap<string, B>, isEqual: (a: A, b: B) => boolean): boolean {
  return a.size === b.size && [...a].every(([path, found]) => b.has(path) && isEqual(found, b.get(path) as B));
}

/** The very same file, or where that cannot be a true copy. */
function isUnchanged(a: Found, b: Found, { hasNoLinks }: Kind): boolean {
  return isAs(a, b) && (hasNoLinks === true || a.identity === b.identity);
}

function isAs(a: Found, { text, mode, uid, modifiedMs = a.modifiedMs }: Shape): boolean {
  return a.text === text && a.mode === mode && a.uid === uid && a.modifiedMs === modifiedMs;
}

function isSound(found: Found | null | undefined, { ops, before }: Scene): boolean {
  if (!found) return false;
  const { records, soundBytes } = decodeRecords(Buffer.from(found.text, "latin1"));
  const files = ops.reduce((sum, { kind }) => sum + (kind === "rename" ? 2 : 1), 0);
  const kept = records.slice(1) as { path: string; before: { bytes: string } | null }[];
  const isTrue = kept.every(
    ({ path, before: old }) => old === null || Buffer.from(old.bytes, "base64").toString() === before.get(path)?.text,
  );
  return isTrue && soundBytes === found.text.length && kept.length === files && found.mode === 0o600;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** A small generator with a seed, so that every run is the same run. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
