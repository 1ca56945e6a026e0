// Several processes on one session at once: one holds it, the others go their own way, and nobody's entry is lost.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startWorker } from "./processes.mjs";
import { randomFrom } from "./random.mjs";

export async function runContention({ module, directory, rounds, seed }) {
  const { SessionManager, SessionReader } = await import(module);
  const random = randomFrom(seed);
  const agentDir = join(directory, "contention");
  mkdirSync(agentDir, { recursive: true });
  const workers = Array.from({ length: 8 }, () => startWorker(module, agentDir));
  const figures = { rounds: 0, openings: 0, holders: 0, doubleHolders: 0, interleaved: 0, lost: 0, damagedLines: 0 };
  const problems = [];
  try {
    for (const worker of workers) await worker.next(); // ready
    for (let round = 0; round < rounds; round++) {
      const path = join(agentDir, `${round}.jsonl`);
      // Every other time the file is there already, with somebody's entry in it.
      if (round % 2 === 0) await begin(SessionManager, path, agentDir);
      const crowd = workers.slice(0, 2 + random.below(7));
      for (const worker of crowd) worker.send("contend", path, round);
      const stories = await Promise.all(crowd.map((worker) => outcome(worker)));
      figures.rounds++;
      figures.openings += crowd.length;
      for (const { isDouble, isHolder, file, ids } of stories) {
        if (isDouble) figures.doubleHolders++;
        if (isHolder) figures.holders++;
        if (file === undefined) {
          problems.push(`round ${round}: a process ended by itself`);
          continue;
        }
        const reader = new SessionReader(file);
        reader.push(readFileSync(file));
        const { entries, problemCount } = reader.end();
        figures.damagedLines += problemCount;
        const at = ids.map((id) => entries.findIndex((entry) => entry.id === id));
        figures.lost += at.filter((index) => index === -1).length;
        if (at.some((index, place) => index !== at[0] + place)) figures.interleaved++;
      }
      rmSync(path, { force: true });
      rmSync(join(agentDir, "sessions"), { recursive: true, force: true });
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
  }
  return { ...figures, problems };
}

async function begin(SessionManager, path, agentDir) {
  const session = await SessionManager.open(path, { cwd: agentDir, agentDir, home: agentDir });
  session.appendMessage({ role: "user", content: "there before", timestamp: 1 });
  await session.close();
}

async function outcome(worker) {
  let isDouble = false;
  for (;;) {
    const line = await worker.next();
    if (line === undefined) return { isDouble, isHolder: false, ids: [] };
    const [word, , role, file, ids] = line.split(" ");
    if (word === "double") isDouble = true;
    if (word === "done") return { isDouble, isHolder: role === "holder", file, ids: ids.split(",") };
  }
}
