// A random scene of the simulated disk, set up in a directory of the real one, and what is wrong with it afterwards.

import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
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
  for (const [path, { text, mode, uid }] of before) {
    const place = path.replace(/^\/p/, root);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    if (isRoot) chownSync(place, uid, uid);
    chmodSync(place, mode);
  }
  return filesBelow(root);
}

/** Undefined where all is well. `must`: only "old" or only "new" is right. */
export function problemIn(directory, { after }, { old, must }) {
  const { root, journalDir, undoDir } = placesIn(directory);
  const now = filesBelow(root);
  const isOld = same(now, old, (a, b) => a.stamp === b.stamp && a.ino === b.ino);
  const isNew = same(now, new Map([...after].map(([path, file]) => [path.slice(3), file])), (a, b) => {
    const isOwned = !isRoot || b.uid === 1000 || a.uid === b.uid; // 1000 is whoever runs this
    return (
      a.text === b.text &&
      (b.mode === 0o666 || a.mode === b.mode) &&
      isOwned &&
      (!b.modifiedMs || a.mtimeMs === b.modifiedMs)
    );
  });
  if (!isOld && !isNew) return `torn: ${JSON.stringify([...now])}`;
  if (must && (must === "old" ? !isOld : !isNew)) return `not ${must}`;
  const records = readdirSync(undoDir);
  if (records.length !== (isNew ? 1 : 0)) return `undo records: ${records}`;
  const leftOver = [...readdirSync(journalDir), ...emptyBelow(root).filter((name) => isOld && name.startsWith("new"))];
  return leftOver.length > 0 ? `left over: ${leftOver}` : undefined;
}

function filesBelow(root) {
  const files = new Map();
  for (const name of readdirSync(root, { recursive: true })) {
    const { mode, uid, ino, mtimeMs, size } = lstatSync(join(root, name));
    if ((mode & 0o170000) !== 0o100000) continue;
    const text = readFileSync(join(root, name), "latin1");
    files.set(name, {
      text,
      mode: mode & 0o7777,
      uid,
      ino,
      mtimeMs,
      stamp: `${mode} ${uid} ${mtimeMs} ${size} ${text}`,
    });
  }
  return files;
}

function emptyBelow(root) {
  return readdirSync(root, { recursive: true }).filter((name) => {
    const place = join(root, name);
    return lstatSync(place).isDirectory() && readdirSync(place).length === 0;
  });
}

function same(a, b, isEqual) {
  return a.size === b.size && [...a].every(([name, file]) => b.has(name) && isEqual(file, b.get(name)));
}
