// A random scene of the simulated disk, set up in a directory of the real one, and what is wrong with it afterwards.

import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const isRoot = process.getuid?.() === 0;

/** The same scene for the same seed, in every process. */
export function sceneFrom({ randomScene, seeded }, seed) {
  return { ...randomScene(seeded(seed), 5), kind: {}, seed };
}

export function placesIn(directory) {
  const home = realpathSync(directory);
  return { root: join(home, "p"), journalDir: join(home, "agent/journal"), undoDir: join(home, "agent/undo") };
}

export function opsIn(directory, { ops }) {
  const { root } = placesIn(directory);
  const at = (path) => path.replace(/^\/p/, root);
  return ops.map((op) => ({ ...op, path: at(op.path), ...(op.to ? { to: at(op.to) } : {}) }));
}

/** Starts from nothing. Answers what is there. */
export function setUp(directory, { before }) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const { root, journalDir, undoDir } = placesIn(directory);
  for (const place of [root, journalDir, undoDir]) mkdirSync(place, { recursive: true });
  for (const [path, { type, text, mode, uid }] of before) {
    const place = path.replace(/^\/p/, root);
    mkdirSync(dirname(place), { recursive: true });
    if (type === "symlink") symlinkSync(text, place);
    else if (type === "directory") mkdirSync(place, { recursive: true });
    else writeFileSync(place, text);
    if (isRoot) (type === "symlink" ? lchownSync : chownSync)(place, uid, uid);
    if (type !== "symlink") chmodSync(place, mode);
  }
  return filesBelow(root);
}

/** Undefined where all is well. `must`: only "old" or only "new" is right. */
export function problemIn(directory, { before, after }, { old, must }) {
  const { root, journalDir, undoDir } = placesIn(directory);
  const now = filesBelow(root);
  // A directory that was removed and made again is another one, but looks the same.
  const isOld = same(now, old, (a, b) => a.stamp === b.stamp && (a.type === "directory" || a.ino === b.ino));
  const isNew = same(now, wantedOf(before, after), (a, b) => {
    if (b === undefined) return a.type === "directory"; // there because files need it
    const isOwned = !isRoot || b.uid === 1000 || a.uid === b.uid; // 1000 is the user who runs this
    const isUsual = b.mode === 0o666 || (b.type === "directory" && b.mode === 0o755) || b.type === "symlink";
    return (
      a.type === (b.type ?? "file") &&
      a.text === b.text &&
      (isUsual || a.mode === b.mode) &&
      isOwned &&
      (!b.modifiedMs || a.mtimeMs === b.modifiedMs)
    );
  });
  if (!isOld && !isNew) return `torn: ${JSON.stringify([...now])}`;
  if (must && (must === "old" ? !isOld : !isNew)) return `not ${must}`;
  const records = readdirSync(undoDir);
  if (records.length !== (isNew ? 1 : 0)) return `undo records: ${records}`;
  const leftOver = readdirSync(journalDir);
  return leftOver.length > 0 ? `left over: ${leftOver}` : undefined;
}

/** What is meant to be there, and the directories that it needs or that were there before and are not removed. */
function wantedOf(before, after) {
  const wanted = new Map([...after].map(([path, file]) => [path.slice(3), file]));
  const gone = new Set(
    [...before].filter(([path, { type }]) => type === "directory" && !after.has(path)).map(([path]) => path),
  );
  for (const path of [...before.keys(), ...after.keys()])
    for (let at = dirname(path); at !== "/p"; at = dirname(at))
      if (!wanted.has(at.slice(3)) && !gone.has(at) && !isBelowOther(at, after)) wanted.set(at.slice(3), undefined);
  return wanted;
}

/** Something else than a directory is above it afterwards. */
function isBelowOther(path, after) {
  for (let at = path; at !== "/p"; at = dirname(at))
    if (after.has(at) && after.get(at).type !== "directory") return true;
  return false;
}

/** By hand, because Node's recursive listing follows links. */
function namesBelow(root, way = "") {
  return readdirSync(join(root, way)).flatMap((name) => {
    const at = join(way, name);
    return [at, ...(lstatSync(join(root, at)).isDirectory() ? namesBelow(root, at) : [])];
  });
}

function filesBelow(root) {
  const files = new Map();
  for (const name of namesBelow(root)) {
    const stat = lstatSync(join(root, name));
    const { mode, uid, ino, mtimeMs, size } = stat;
    const type = stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "file";
    const text = textAt(join(root, name), type);
    const time = type === "directory" ? "" : `${mtimeMs} ${size}`;
    files.set(name, { type, text, mode: mode & 0o7777, uid, ino, mtimeMs, stamp: `${mode} ${uid} ${time} ${text}` });
  }
  return files;
}

function textAt(path, type) {
  if (type === "directory") return "";
  return type === "symlink" ? readlinkSync(path) : readFileSync(path, "latin1");
}

function same(a, b, isEqual) {
  return a.size === b.size && [...a].every(([name, file]) => b.has(name) && isEqual(file, b.get(name)));
}
