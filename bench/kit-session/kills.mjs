// SIGKILL at random moments of a process that appends. What it had told us is in the file, and the file goes on.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startWorker } from "./processes.mjs";
import { randomFrom } from "./random.mjs";

const roundsPerFile = 10;
const lanes = 3;

export async function runKills({ module, directory, count, seed }) {
  const { SessionReader } = await import(module);
  const figures = {
    kills: 0,
    told: 0,
    lost: 0,
    unopenable: 0,
    damagedLines: 0,
    tornEnds: 0,
    lockLeft: 0,
    notCreated: 0,
  };
  const problems = [];
  let left = count;

  const lane = async (number) => {
    const random = randomFrom(seed * 1000 + number);
    const agentDir = join(directory, `lane-${number}`);
    mkdirSync(agentDir, { recursive: true });
    for (let file = 0; left > 0; file++) {
      const path = join(agentDir, `${file}.jsonl`);
      const told = [];
      for (let round = 0; round < roundsPerFile && left-- > 0; round++) {
        const worker = startWorker(module, agentDir);
        await worker.next(); // ready
        worker.send("run", path);
        // Some before the file is there, most while lines are on their way.
        const before = random.below(25);
        let opening;
        for (let heard = 0; heard < before; heard++) {
          const line = await worker.next();
          if (line === undefined || line.startsWith("failed")) problems.push(`${path}: ${line ?? "ended by itself"}`);
          if (line?.startsWith("open")) opening = line;
          else note(line, told);
        }
        for (let wait = random.below(40); wait > 0; wait--) await new Promise(setImmediate);
        await worker.kill();
        for (const line of worker.rest()) note(line, told);
        if (opening?.endsWith("readOnly")) figures.lockLeft++;
        figures.kills++;
        check(path, told);
      }
      figures.told += told.length;
      rmSync(agentDir, { recursive: true, force: true });
      mkdirSync(agentDir);
    }
  };

  const check = (path, told) => {
    const read = readSession(path, SessionReader);
    if (read === "absent") {
      if (told.length > 0) figures.lost += told.length;
      else figures.notCreated++;
      return;
    }
    if (read === "refused") {
      figures.unopenable++;
      problems.push(`${path} cannot be opened`);
      return;
    }
    const ids = new Set(read.entries.map(({ id }) => id));
    for (const id of told) if (!ids.has(id)) figures.lost++;
    figures.damagedLines += read.problemCount;
    if (read.tail.bytes > 0) figures.tornEnds++;
  };

  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return { ...figures, problems };
}

function note(line, told) {
  const id = /^[ws] (\S+)$/.exec(line ?? "")?.[1];
  if (id !== undefined && told.at(-1) !== id) told.push(id);
}

function readSession(path, SessionReader) {
  let bytes;
  try {
    bytes = readFileSync(path);
  } catch {
    return "absent";
  }
  try {
    const reader = new SessionReader(path);
    reader.push(bytes);
    return reader.end();
  } catch {
    return "refused";
  }
}
