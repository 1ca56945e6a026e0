// Sends hostile traffic to the real program, reads all the while, and keeps the figures. Plain JavaScript, so that the
// test and the long run share it.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HostileTraffic } from "./hostile-frames.mjs";
import { StrictReader } from "./strict-frames.mjs";

const maxUnderWay = 1024;
const bin = fileURLToPath(new URL("../../bin/galley.js", import.meta.url));

/** Rejects when the program ends on its own, or when nothing is answered for a long while. */
export async function runHostile({ seed, count, patienceMs = 10_000 }) {
  const home = mkdtempSync(join(tmpdir(), "galley-hostile-"));
  const child = spawn(process.execPath, [bin, "--mode", "rpc"], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, GALLEY_AGENT_DIR: join(home, "agent") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  try {
    const traffic = new HostileTraffic({ seed, count });
    const strict = new StrictReader();
    const start = performance.now();
    const latencies = await converse({ child, traffic, strict, patienceMs });
    strict.verify();
    const elapsedMs = performance.now() - start;
    const peakBytes = peakMemory(child.pid);
    const exitCode = await ended(child);
    const { figures, problems } = traffic;
    latencies.sort((a, b) => a - b);
    const p99Ms = latencies[Math.floor(latencies.length * 0.99)];
    return { ...figures, problems, missing: traffic.due, elapsedMs, p99Ms, peakBytes, exitCode, stderr };
  } finally {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  }
}

/** Resolves when every line is sent and nothing is due any more. */
function converse({ child, traffic, strict, patienceMs }) {
  return new Promise((resolve, reject) => {
    const sentAt = new Map();
    const latencies = [];
    let rest = Buffer.alloc(0);
    let isReady = false;
    let lastHeard = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - lastHeard > patienceMs) settle(() => reject(new Error(`silent; ${traffic.due} due`)));
    }, 1000);
    const settle = (outcome) => {
      clearInterval(watch);
      child.off("exit", onExit);
      outcome();
    };
    const onExit = (code, signal) => settle(() => reject(new Error(`galley ended by itself: ${code ?? signal}`)));
    child.on("exit", onExit);
    child.stdin.on("error", () => {}); // told by the exit

    // No more is under way than galley takes in at once, so that the time to an answer is its own and not our reading's.
    let isSending = false;
    const sendNext = () => {
      if (isSending || traffic.isExhausted || traffic.due > maxUnderWay) return;
      isSending = true;
      const chunk = traffic.nextChunk();
      const now = performance.now();
      for (const [, id] of chunk.toString("latin1").matchAll(/"id":"(v\d+)"/g)) sentAt.set(id, now);
      child.stdin.write(chunk, () => {
        isSending = false;
        sendNext();
      });
    };

    child.stdout.on("data", (chunk) => {
      lastHeard = performance.now();
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let from = 0;
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, from)) {
        const line = bytes.toString("utf8", from, end);
        strict.read(line);
        const frame = JSON.parse(line);
        from = end + 1;
        if (!isReady) isReady = frame.type === "ready";
        else {
          const id = traffic.heard(frame);
          if (id === undefined) continue;
          latencies.push(lastHeard - (sentAt.get(id) ?? Number.NaN));
          sentAt.delete(id);
        }
      }
      rest = bytes.subarray(from);
      if (traffic.isExhausted && traffic.due <= 0) settle(() => resolve(latencies));
      else sendNext();
    });
    sendNext();
  });
}

function ended(child) {
  child.stdin.end();
  return new Promise((resolve) => child.on("close", resolve));
}

function peakMemory(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+) kB/m)?.[1]) * 1024;
  } catch {
    return undefined; // no procfs here
  }
}
