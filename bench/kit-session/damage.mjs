// Files cut at their end and damaged in their middle: they open, every sound line is there, and they go on.

import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { randomFrom } from "./random.mjs";

const cutBytes = 64 * 1024;

/** `everyByte` is the step: 1 cuts at every byte of the last 64 KiB. */
export async function runCuts({ module, directory, step }) {
  const { SessionManager, nodeDisk } = await import(module);
  const options = agentOptions(directory, nodeDisk);
  const path = join(directory, "cut.jsonl");
  const { bytes, ends } = sampleFile(randomFrom(1), 80 * 1024);
  const figures = { cuts: 0, mostLinesLost: 0, unopenable: 0, newEntryUnreadable: 0, bytesNotKept: 0 };
  for (let cut = bytes.length - cutBytes; cut <= bytes.length; cut += step) {
    figures.cuts++;
    rmSync(`${path}.tail`, { force: true });
    writeFileSync(path, bytes.subarray(0, cut), { mode: 0o600 });
    // A line whose LF alone is missing is whole.
    const whole = ends.filter(({ end }) => end - 1 <= cut);
    const session = await SessionManager.open(path, options).catch(() => undefined);
    if (!session) {
      figures.unopenable++;
      continue;
    }
    const present = session.tree.entries.length;
    const begun = ends.filter(({ end }) => end <= cut).length + (ends.some(({ end }) => end === cut) ? 0 : 1);
    figures.mostLinesLost = Math.max(figures.mostLinesLost, Math.min(begun, ends.length) - present);
    if (present !== whole.length) figures.unopenable++;
    const torn = cut - (whole.at(-1)?.end ?? 0);
    const kept = existsSync(`${path}.tail`) ? readFileSync(`${path}.tail`).length : 0;
    if (torn > 0 && kept !== torn) figures.bytesNotKept++;
    const { id } = session.appendMessage(say("after the cut"));
    await session.close();
    const again = await SessionManager.open(path, options);
    if (again.tree.leafId !== id || again.warnings.length > 0) figures.newEntryUnreadable++;
    await again.close();
  }
  return figures;
}

export async function runCorruptions({ module, directory, count, seed }) {
  const { SessionManager, nodeDisk } = await import(module);
  const options = agentOptions(directory, nodeDisk);
  const random = randomFrom(seed);
  const figures = { files: 0, soundLines: 0, lost: 0, changed: 0, unopenable: 0, cannotGoOn: 0 };
  for (let number = 0; number < count; number++) {
    const { lines } = sampleFile(random, 4 * 1024);
    const { text, sound } = damage(lines, random);
    const path = join(directory, "damaged.jsonl");
    writeFileSync(path, text, { mode: 0o600 });
    figures.files++;
    const session = await SessionManager.open(path, options).catch(() => undefined);
    if (!session) {
      figures.unopenable++;
      continue;
    }
    for (const line of sound) {
      figures.soundLines++;
      const entry = JSON.parse(line);
      const found = session.tree.get(entry.id);
      if (!found) figures.lost++;
      else if (JSON.stringify(found.message) !== JSON.stringify(entry.message)) figures.changed++;
    }
    const { id } = session.appendMessage(say("after the damage"));
    await session.close();
    const again = await SessionManager.open(path, options);
    if (again.tree.leafId !== id) figures.cannotGoOn++;
    await again.close();
  }
  return figures;
}

/** One line of that many bytes in the middle of a file. Sparse, so that it takes no room. */
export async function readGiantLine({ module, directory, bytes }) {
  const { loadSession, systemClock } = await import(module);
  const { lines } = sampleFile(randomFrom(1), 4 * 1024);
  const path = join(directory, "giant.jsonl");
  const file = openSync(path, "w", 0o600);
  const head = Buffer.from(`${lines.slice(0, 3).join("\n")}\n`);
  writeSync(file, head);
  ftruncateSync(file, head.length + bytes);
  writeSync(file, `\n${lines.slice(3).join("\n")}\n`, head.length + bytes);
  closeSync(file);
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const started = performance.now();
  const { session } = await loadSession(path, { clock: systemClock, isReadOnly: true });
  clearInterval(watch);
  rmSync(path);
  return {
    bytes,
    entries: session.entries.length,
    expected: lines.length - 1,
    problemCount: session.problemCount,
    elapsedMs: performance.now() - started,
    grownBytes: Math.max(peak, process.memoryUsage.rss()) - before,
  };
}

/** Nothing here is about power cuts, and waiting for the disk would be most of the time. */
function agentOptions(directory, nodeDisk) {
  mkdirSync(directory, { recursive: true });
  const disk = { ...nodeDisk, sync: async () => {}, syncDirectory: async () => {} };
  return { cwd: directory, agentDir: join(directory, "agent"), home: directory, disk };
}

function say(text) {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

/** A header and a chain of messages; `ends` tells where each line ends, without the header's. */
function sampleFile(random, minBytes) {
  const lines = [JSON.stringify({ type: "session", version: 3, id: "sample", timestamp: "t", cwd: "/x" })];
  const ends = [];
  let parentId = null;
  let length = lines[0].length + 1;
  while (length < minBytes + lines[0].length) {
    const id = (lines.length + 0xa0000000).toString(16);
    const text = 'Grüße, {"type":"message"} and so on. '.repeat(1 + random.below(12));
    const line = JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: "2026-01-05T08:00:00.000Z",
      message: say(text),
    });
    lines.push(line);
    length += Buffer.byteLength(line) + 1;
    ends.push({ id, end: length });
    parentId = id;
  }
  return { lines, ends, bytes: Buffer.from(`${lines.join("\n")}\n`) };
}

/** Damages one place behind the header. `sound` are the lines that were not touched. */
function damage(lines, random) {
  const at = 1 + random.below(lines.length - 1);
  const sound = lines.filter((_, index) => index !== at && index !== 0);
  const replaced = (...bad) =>
    Buffer.concat(
      lines.flatMap((line, index) => (index === at ? bad : [`${line}\n`])).map((part) => Buffer.from(part)),
    );
  const line = Buffer.from(lines[at]);
  const place = random.below(line.length);
  const kinds = {
    zeros: () => {
      const torn = Buffer.from(line);
      torn.fill(0, place, Math.min(line.length, place + 1 + random.below(512)));
      return { text: replaced(torn, "\n"), sound };
    },
    "zeros before": () => ({ text: replaced(Buffer.alloc(1 + random.below(4096)), line, "\n"), sound: lines.slice(1) }),
    "torn and fused with the next": () => ({ text: replaced(line.subarray(0, place)), sound }),
    "two in one line": () => ({ text: replaced(line), sound: lines.slice(1) }),
    "flipped bits": () => {
      const flipped = Buffer.from(line);
      for (let flip = 0; flip <= random.below(4); flip++) flipped[random.below(line.length)] ^= 1 << random.below(8);
      return { text: replaced(flipped, "\n"), sound };
    },
    rubbish: () => ({
      text: replaced(line.subarray(0, place), randomBytes(random, 200), line.subarray(place), "\n"),
      sound,
    }),
    "not an object": () => ({
      text: replaced(random.pick(["[]", "7", '"text"', "null", "{}", '{"type":5}']), "\n"),
      sound,
    }),
    missing: () => ({ text: replaced(), sound }),
    twice: () => ({ text: replaced(line, "\n", line, "\n"), sound: lines.slice(1) }),
    "too long": () => ({ text: replaced(line.subarray(0, place), Buffer.alloc(9 * 1024 * 1024, "x"), "\n"), sound }),
  };
  // The long one is slow to write; now and then is enough.
  const names = Object.keys(kinds).filter((name) => name !== "too long" || random.below(20) === 0);
  return kinds[random.pick(names)]();
}

function randomBytes(random, length) {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
