// Too much of everything: processes, output, descriptors. galley stays responsive, and small.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bearers, killAll } from "./processes-seen.mjs";

const starved = fileURLToPath(new URL("processes-starved.mjs", import.meta.url));

export async function runForkBomb({ module, directory, depth }) {
  const { processes, close } = await openProcesses(module);
  const tag = `galleybomb${process.pid}x`;
  const blocks = watchLoop();
  let isFull = () => {};
  const full = new Promise((resolve) => {
    isFull = resolve;
  });
  const controller = new AbortController();
  const bomb = processes.run({
    command: {
      shell: `bomb() { if [ "$1" -eq 0 ]; then echo leaf; exec sleep 300; fi; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb ${depth}`,
    },
    cwd: directory,
    env: { TAG: tag },
    signal: controller.signal,
    onOutput: countBytes(2 ** depth * 5, isFull),
  });
  const started = performance.now();
  await processes.run({ command: { shell: "true" }, cwd: directory });
  const besideMs = Math.round(performance.now() - started);
  await full;
  const processCount = bearers(tag).length;
  const stopped = performance.now();
  controller.abort();
  await bomb;
  const answeredMs = Math.round(performance.now() - stopped);
  const left = bearers(tag);
  killAll(left);
  const longestBlockMs = blocks();
  await close();
  return { processes: processCount, survivors: left.length, answeredMs, besideMs, longestBlockMs };
}

export async function runFlood({ module, directory, bytes }) {
  const { processes, close } = await openProcesses(module);
  const blocks = watchLoop();
  const before = process.memoryUsage().rss;
  let seen = 0;
  let peak = before;
  await processes.run({
    command: { shell: `head -c ${bytes} /dev/zero` },
    cwd: directory,
    async onOutput(chunk) {
      seen += chunk.length;
      peak = Math.max(peak, process.memoryUsage.rss());
      await new Promise(setImmediate); // as if it were written somewhere
    },
  });
  const longestBlockMs = blocks();
  await close();
  return { bytes: seen, grownBytes: peak - before, longestBlockMs };
}

export async function exhaustDescriptors({ module, directory }) {
  const { processes, close } = await openProcesses(module);
  let said = "";
  await processes.run({
    command: {
      shell: "count=0; while exec {descriptor}</dev/null; do count=$((count + 1)); done 2>/dev/null; echo $count",
    },
    cwd: directory,
    onOutput(chunk) {
      said += Buffer.from(chunk).toString();
      return undefined;
    },
  });
  await close();
  return { opened: Number(said), ...(await starve(module)) };
}

/** A galley that may open 60 files, with 60 commands at once. */
function starve(module) {
  const child = spawn("sh", ["-c", 'ulimit -n 60; exec "$@"', "sh", process.execPath, starved, module], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("close", () => {
      try {
        resolve(JSON.parse(said));
      } catch {
        reject(new Error(`the starved galley said ${JSON.stringify(said)}`));
      }
    });
  });
}

async function openProcesses(module) {
  const { createNodeProcesses, silentLog } = await import(module);
  const processes = createNodeProcesses({ env: process.env, log: silentLog });
  return { processes, close: () => processes.shutdown() };
}

function countBytes(goal, onGoal) {
  let seen = 0;
  return (chunk) => {
    seen += chunk.length;
    if (seen >= goal) onGoal();
    return undefined;
  };
}

/** The longest time that the event loop was not there for anybody. */
function watchLoop() {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 10);
    last = now;
  }, 10);
  return () => {
    clearInterval(timer);
    return Math.round(longest);
  };
}
