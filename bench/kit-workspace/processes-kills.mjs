// SIGKILL to a galley in the middle of its commands, at random moments. Three seconds later nobody is left.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { randomFrom } from "../kit-session/random.mjs";
import { kinds } from "./processes-kinds.mjs";
import { bearers, isWatcher, killAll, untilNone, watchersOf } from "./processes-seen.mjs";

const worker = fileURLToPath(new URL("processes-worker.mjs", import.meta.url));
const names = Object.keys(kinds);
const limitMs = 3000;
const lanes = 3;

export async function runGalleyKills({ module, directory, count, seed }) {
  const figures = { kills: 0, seen: 0, survivors: 0, watchersLeft: 0, slowestMs: 0 };
  const problems = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const round = next++;
      await killOnce({ module, directory, seed, round, figures, problems });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { ...figures, problems };
}

async function killOnce({ module, directory, seed, round, figures, problems }) {
  const random = randomFrom(seed * 100_000 + round);
  const tag = `galleykill${process.pid}x${seed}x${round}x`;
  // Every kind in turn, and one more by chance. Some are killed while they start, but not the one that may escape then.
  const chosen = [names[round % names.length], random.pick(names)];
  const isEarly = !chosen.includes("emptiedLeader") && random.below(3) === 0;
  const child = spawn(process.execPath, [worker, module, tag], { cwd: directory, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.stdin.on("error", () => {}); // told by its end
  child.stdin.write(`${JSON.stringify(chosen.map((name) => kinds[name](tag)))}\n`);
  await said(child, isEarly ? "starting" : "ready");
  if (isEarly) await new Promise((resolve) => setTimeout(resolve, random.below(25)));

  const watchers = watchersOf(child.pid);
  figures.seen += bearers(tag).length;
  child.kill("SIGKILL");
  child.stdin.destroy();
  child.stdout.destroy();
  await ended;
  figures.kills++;
  const tookMs = await untilNone(() => bearers(tag).length === 0 && !watchers.some(isWatcher), limitMs);
  if (tookMs !== undefined) {
    figures.slowestMs = Math.max(figures.slowestMs, Math.round(tookMs));
    return;
  }
  const left = bearers(tag);
  const watchersLeft = watchers.filter(isWatcher);
  figures.survivors += left.length;
  figures.watchersLeft += watchersLeft.length;
  problems.push(`${chosen.join(" and ")}${isEarly ? ", early" : ""}: ${left.length} left`);
  killAll([...left, ...watchersLeft]);
}

function said(child, word) {
  return new Promise((resolve, reject) => {
    let all = "";
    child.stdout.on("data", (chunk) => {
      all += chunk;
      if (all.includes(word)) resolve();
    });
    child.on("close", () => reject(new Error(`the stand-in ended by itself, before "${word}"`)));
  });
}
