// What a plan holds is what is there afterwards, to the byte and the mode.

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, hashOf, projectIn } from "./project.mjs";

/** Bytes that a careless hand would change on the way. */
const samples = [
  Buffer.from(""),
  Buffer.from("no final line end"),
  Buffer.from("a\r\nb\nc\rd\r\n"),
  Buffer.from("\ufeffwith a mark\n"),
  Buffer.from("\ufeffboth ways", "utf16le"),
  Buffer.from([0, 0xff, 0xfe, 0x80, 10, 0]),
  Buffer.from("caf\xe9\n", "latin1"),
  Buffer.from("line\u2028separator\u0085\n"),
];
const modes = [0o644, 0o600, 0o755, 0o2775, 0o1777, 0o666, 0o440];

/** Whatever a plan holds is what is there afterwards, to the byte and the mode, and nothing else changes. */
export async function runPreviews({ module, directory, count, seed }) {
  const journal = await import(module);
  const random = journal.seeded(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const bytes = () =>
    random() < 0.7 ? Buffer.concat([pick(samples), pick(samples)]) : randomBytes(Math.floor(random() * 20_000));
  const figures = { applies: 0, files: 0, different: 0, leftOvers: 0, problems: [] };
  const project = projectIn(join(directory, "previews"), journal);
  const known = new Map();
  for (let round = 0; round < count; round++) {
    const ops = [];
    const taken = new Set();
    for (let left = 1 + Math.floor(random() * 6); left > 0; left--) {
      const name = `${pick(["", "a/", "b/c/"])}f${Math.floor(random() * 30)}`;
      const moved = `${name}-${round}-${left}`;
      if (taken.has(name)) continue;
      taken.add(name);
      const [path, to] = [join(project.root, name), join(project.root, moved)];
      const [old, fresh, mode] = [known.get(name), bytes(), random() < 0.3 ? pick(modes) : undefined];
      const wish = { bytes: fresh, ...(mode === undefined ? {} : { mode }) };
      if (!old) {
        ops.push({ kind: "create", path, shownPath: name, ...wish });
        known.set(name, { bytes: fresh, mode: mode ?? 0o666 & ~process.umask() });
        continue;
      }
      const seen = { path, shownPath: name, beforeHash: hashOf(old.bytes), force: true };
      const kind = pick(["modify", "modify", "delete", "rename"]);
      if (kind !== "modify") known.delete(name);
      if (kind === "delete") ops.push({ kind, ...seen });
      else if (kind === "modify") ops.push({ kind, ...seen, ...wish });
      else ops.push({ kind, ...seen, to, shownTo: moved, ...wish });
      if (kind !== "delete") known.set(kind === "rename" ? moved : name, { bytes: fresh, mode: mode ?? old.mode });
    }
    await project.apply(ops);
    figures.applies++;
    figures.files += ops.length;
    const expected = Object.fromEntries(
      [...known].sort().map(([name, file]) => [name, `${file.mode.toString(8)} ${hashOf(file.bytes)}`]),
    );
    const found = filesBelow(project.root);
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      figures.different++;
      figures.problems.push(`round ${round}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
    }
    figures.leftOvers += project.leftOvers().length;
    for (const name of [...known.keys()].filter((name) => name.includes("-"))) {
      rmSync(join(project.root, name));
      known.delete(name);
    }
  }
  return figures;
}

/** One long file, in and out. */
export async function runLongFile({ module, directory, bytes }) {
  const journal = await import(module);
  const project = projectIn(join(directory, "long"), journal);
  const path = join(project.root, "long");
  const block = randomBytes(1 << 20);
  const [old, fresh] = [Buffer.alloc(bytes, block), Buffer.alloc(bytes, block.subarray(7))];
  writeFileSync(path, old);
  const started = performance.now();
  await project.apply([{ kind: "modify", path, shownPath: "long", beforeHash: hashOf(old), bytes: fresh }]);
  const elapsedMs = Math.round(performance.now() - started);
  const [record] = readdirSync(project.directories.undoDir);
  const undo = await journal.readUndoRecord(journal.nodeChangeDisk, join(project.directories.undoDir, record));
  const problems = [];
  if (!readFileSync(path).equals(fresh)) problems.push("the new bytes are others");
  if (!undo?.files[0].before.bytes.equals(old)) problems.push("the undo record has other bytes");
  return { mebibytes: bytes >> 20, elapsedMs, problems };
}
