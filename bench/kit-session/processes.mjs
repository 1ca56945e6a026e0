// Child processes that speak in lines, and never outlive the run.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));

export function startWorker(module, agentDir) {
  const child = spawn(process.execPath, [worker, module, agentDir], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = [];
  const waiting = [];
  let rest = "";
  let isOver = false;
  child.stdin.on("error", () => {}); // told by the end of the process
  child.stdout.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const next = waiting.shift();
      if (next) next(part);
      else lines.push(part);
    }
  });
  const ended = new Promise((resolve) => {
    child.on("close", () => {
      isOver = true;
      for (const next of waiting) next(undefined);
      resolve();
    });
  });
  return {
    pid: child.pid,
    send: (...words) => child.stdin.write(`${words.join(" ")}\n`),
    /** The next line, or undefined when there will be none. */
    next: () =>
      lines.length > 0 || isOver
        ? Promise.resolve(lines.shift())
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    /** Everything told that nobody asked for. A line that the end cut short was never told. */
    rest: () => lines.splice(0),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
