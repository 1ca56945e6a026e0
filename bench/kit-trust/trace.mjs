// Which programs a program starts, told by the kernel: by strace where there is one, else by looking for processes that
// bear a tag in their environment.

import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export const hasStrace = spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;

const tagName = "GALLEY_TRACE_TAG";
let runs = 0;

/** `started()`, after its end, is the argv of everything that was started, even in vain, besides the program itself. */
export function spawnTraced(argv, { traceFile, canTrace = hasStrace, ...options }) {
  return canTrace ? underStrace(argv, { traceFile, ...options }) : underWatch(argv, options);
}

function underStrace(argv, { traceFile, ...options }) {
  const strace = ["--seccomp-bpf", "-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat", "-o", traceFile, "--"];
  const child = spawn("strace", [...strace, ...argv], { ...options, detached: true });
  const started = () => {
    const calls = readFileSync(traceFile, "latin1")
      .split("\n")
      .filter((line) => /\bexecve(?:at)?\(/.test(line));
    return calls.slice(1).map(argvOf);
  };
  return { child, started };
}

/** `execve("/bin/sh", ["sh", "-c", "x"], ...` */
function argvOf(call) {
  const strings = [...call.split(" /* ")[0].matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text);
  return strings.length === 0 ? [call] : [strings[0], ...strings.slice(2)];
}

function underWatch(argv, options) {
  const tag = `${tagName}=${process.pid}-${runs++}`;
  const [name, value] = tag.split("=");
  const child = spawn(argv[0], argv.slice(1), {
    ...options,
    env: { ...options.env, [name]: value },
    detached: true,
  });
  const seen = new Map();
  // A child that is yet to become another program still looks like the one it came from.
  const own = argv.map((word) => `${word}\0`).join("");
  const look = () => {
    for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && Number(entry) !== child.pid)) {
      const line = read(pid, "cmdline");
      if (line !== "" && line !== own && !seen.has(pid + line) && read(pid, "environ").includes(tag))
        seen.set(pid + line, line.split("\0").slice(0, -1));
    }
  };
  const timer = setInterval(look, 2);
  child.once("close", () => clearInterval(timer));
  return { child, started: () => [...seen.values()] };
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // gone meanwhile
  }
}
