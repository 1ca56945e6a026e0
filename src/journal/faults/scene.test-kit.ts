// A project on the simulated disk before and after a change set, and how to say what is wrong with what came of it.

import { createHash } from "node:crypto";
import { contentHash, type FileType } from "../../base/file-type.js";
import { isTempName } from "../../files/disk/temp-names.js";
import type { ChangeOp } from "../change-set.js";
import { decodeRecords } from "../records.js";
import { type Found, type Kind, SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

export const directories = { root: "/p", journalDir: "/agent/journal", undoDir: "/agent/undo" };
export const txid = "0123456789abcdef0123456789abcdef";
const undoRecord = `${directories.undoDir}/${txid}.gu`;

export interface Shape {
  /** Default: a regular file. */
  readonly type?: "symlink" | "directory";
  /** Of a link its target; none of a directory. */
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  /** Only where the change set says so. */
  readonly modifiedMs?: number;
}

/** Maps have files, links and the directories that are named by themselves; others are there because files need them. */
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
    if (random() < 0.4) {
      addTyped({ before, after, ops }, random, index);
      continue;
    }
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
  for (const [path, { type, text, mode, uid }] of before) {
    if (type === "directory") disk.mkdirp(path, { mode, uid });
    else if (type === "symlink") disk.symlink(path, text, { uid });
    else disk.write(path, text, { mode, uid });
  }
  disk.mkdirp(directories.journalDir);
  disk.mkdirp(directories.undoDir);
  return disk;
}

export interface Expected {
  /** The disk before anything happened. */
  readonly old: ReadonlyMap<string, Found>;
  /** Where only one of the two ends is right. */
  readonly must?: "old" | "new" | undefined;
  /** A later recovery may tidy up. */
  readonly mayBeUntidy?: boolean;
}

/** What is wrong with the files after recovery, or undefined. */
export function problemOf(disk: SimDisk, scene: Scene, { old, must, mayBeUntidy }: Expected): string | undefined {
  const tree = disk.tree();
  const now = projectOf(tree, mayBeUntidy);
  const left = mayBeUntidy ? new Map([...now].filter(([path]) => !path.endsWith("/") || old.has(path))) : now;
  const isOld = same(left, projectOf(old), (a, b) => isUnchanged(a, b, scene.kind));
  const isNew = isAfter(now, scene);
  if (!isOld && !isNew)
    return `torn: ${JSON.stringify([...now])} of ${JSON.stringify([...projectOf(old)])} to ${JSON.stringify([...scene.after])}`;
  if (must === "new" && !isNew) return "old where only new is right";
  if (must === "old" && !isOld) return "new where only old is right";
  if (isNew && !isSound(tree.get(undoRecord), scene)) return "new without an undo record that can be used";
  return mayBeUntidy ? undefined : untidyOf(tree, isNew);
}

/** Everything that is meant to be there, with the directories that it needs, and nothing else but old directories. */
function isAfter(now: ReadonlyMap<string, Found>, { before, after }: Scene): boolean {
  const meant = new Map<string, Shape | undefined>();
  const need = (path: string) => {
    for (let at = path.slice(0, path.lastIndexOf("/")); at.length > 2; at = at.slice(0, at.lastIndexOf("/")))
      if (!meant.has(`${at}/`)) meant.set(`${at}/`, undefined);
  };
  for (const [path, shape] of after) meant.set(shape.type === "directory" ? `${path}/` : path, shape);
  for (const path of [...after.keys(), ...before.keys()]) need(path);
  // What a change set removes by name is not left over from before.
  for (const [path, { type }] of before)
    if (type === "directory" && after.get(path)?.type !== type) meant.delete(`${path}/`);
  for (const [path, shape] of meant) {
    const found = now.get(path);
    if (!found || (shape && !isAs(found, shape))) return false;
  }
  return [...now.keys()].every((path) => meant.has(path));
}

function untidyOf(tree: ReadonlyMap<string, Found>, isNew: boolean): string | undefined {
  const leftOver = [...tree.keys()].filter(
    (path) => !path.endsWith("/") && path.startsWith("/agent/") && !(isNew && path === undoRecord),
  );
  return leftOver.length > 0 ? `left over: ${leftOver.join(", ")}` : undefined;
}

function projectOf(tree: ReadonlyMap<string, Found>, isWithoutOurs = false): Map<string, Found> {
  const nameOf = (path: string) => path.replace(/\/$/, "").replace(/^.*\//s, "");
  return new Map(
    [...tree].filter(
      ([path]) => path.startsWith("/p/") && path !== "/p/" && !(isWithoutOurs && isTempName(nameOf(path))),
    ),
  );
}

function same<A, B>(a: ReadonlyMap<string, A>, b: ReadonlyMap<string, B>, isEqual: (a: A, b: B) => boolean): boolean {
  return a.size === b.size && [...a].every(([path, found]) => b.has(path) && isEqual(found, b.get(path) as B));
}

/** The very same file, or where that cannot be a true copy. */
function isUnchanged(a: Found, b: Found, { hasNoLinks }: Kind): boolean {
  if (b.type === "directory") return a.mode === b.mode && a.uid === b.uid; // it may have been removed and made again
  return isAs(a, b) && (hasNoLinks === true || a.identity === b.identity);
}

function isAs(a: Found, { type, text, mode, uid, modifiedMs = a.modifiedMs }: Shape): boolean {
  return a.type === type && a.text === text && a.mode === mode && a.uid === uid && a.modifiedMs === modifiedMs;
}

function isSound(found: Found | undefined, { ops, before }: Scene): boolean {
  if (!found) return false;
  const { records, soundBytes } = decodeRecords(Buffer.from(found.text, "latin1"));
  const files = ops.reduce((sum, { kind }) => sum + (kind === "rename" ? 2 : 1), 0);
  const kept = records.slice(1) as { path: string; before: { bytes: string } | null }[];
  const isTrue = kept.every(
    ({ path, before: old }) => old === null || Buffer.from(old.bytes, "base64").toString() === before.get(path)?.text,
  );
  // Directories that come with a path which becomes one are kept besides.
  return isTrue && soundBytes === found.text.length && kept.length >= files && found.mode === 0o600;
}

interface Draft {
  readonly before: Map<string, Shape>;
  readonly after: Map<string, Shape>;
  readonly ops: ChangeOp[];
}

/** Links, directories, modes and changes of type, with what is in the directories. */
function addTyped(draft: Draft, random: Random, index: number): void {
  const path = `${pick(random, ["/p", "/p/a", "/p/b/c", `/p/new${index % 3}/deep`])}/t${index}`;
  const uid = pick(random, [1000, 7]);
  const shapes: Record<FileType, Shape> = {
    file: { text: `old ${index}`, mode: pick(random, [0o644, 0o755, 0o444]), uid },
    symlink: { type: "symlink", text: pick(random, ["nowhere", "../a", "/p/a", "."]), mode: 0o777, uid },
    directory: { type: "directory", text: "", mode: pick(random, [0o755, 0o700, 0o2775]), uid },
  };
  const types = ["file", "symlink", "directory", undefined] as const;
  const was = pick(random, types);
  const is = pick(random, was === undefined ? types.slice(0, 3) : types);
  const isKept = was === "directory" && is === "directory";
  const wish = pick(random, [0o711, 0o500, 0o1755, isKept ? 0o711 : undefined]);
  const old = was && shapes[was];
  const fresh = is && freshShape(is, { old, wish, index });
  add(draft, path, { old, fresh, wish: is === "symlink" ? undefined : wish });
  for (const name of ["x", "in/y", "in/z"].slice(0, Math.floor(random() * 4))) {
    const inside = { text: `old ${index} ${name}`, mode: 0o644, uid };
    const made = { text: `new ${index} ${name}`, mode: 0o666, uid: 1000 };
    if (isKept) for (const side of [draft.before, draft.after]) side.set(`${path}/${name}`, inside);
    else if (was === "directory") add(draft, `${path}/${name}`, { old: inside });
    if (is === "directory" && !isKept) add(draft, `${path}/${name}`, { fresh: made });
    else if (isKept && random() < 0.5) add(draft, `${path}/${name}-new`, { fresh: made });
  }
  if (was === "directory" && !isKept && draft.before.has(`${path}/in/y`))
    add(draft, `${path}/in`, { old: { type: "directory", text: "", mode: 0o750, uid } });
}

function freshShape(type: FileType, about: { old: Shape | undefined; wish: number | undefined; index: number }): Shape {
  const { old, wish, index } = about;
  const uid = old?.uid ?? 1000;
  if (type === "symlink") return { type, text: `target ${index}`, mode: 0o777, uid };
  const isSame = old !== undefined && (old.type ?? "file") === type;
  const mode = wish ?? (isSame ? old.mode : type === "file" ? 0o666 : 0o755);
  return type === "file" ? { text: `new ${index}`, mode, uid } : { type, text: "", mode, uid };
}

function add(
  { before, after, ops }: Draft,
  path: string,
  { old, fresh, wish }: { old?: Shape | undefined; fresh?: Shape | undefined; wish?: number | undefined },
): void {
  if (old) before.set(path, old);
  if (fresh) after.set(path, fresh);
  const named = { path, shownPath: path.slice(3) };
  const hash = old && contentHash(old.type, Buffer.from(old.text));
  const seen = { beforeHash: hash ?? "", force: true, ...(old?.type ? { beforeType: old.type } : {}) };
  const type = fresh?.type ? { type: fresh.type } : {};
  const content = { bytes: Buffer.from(fresh?.text ?? ""), ...type, ...(wish === undefined ? {} : { mode: wish }) };
  if (old && fresh) ops.push({ kind: "modify", ...named, ...seen, ...content });
  else if (old) ops.push({ kind: "delete", ...named, ...seen });
  else ops.push({ kind: "create", ...named, ...content });
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
