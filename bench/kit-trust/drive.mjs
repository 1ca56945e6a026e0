// Drives the real program in a repository: starts it, asks for what there is, prompts. Promises an end: a program that
// does not come to one is killed and told as hung.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnTraced } from "./trace.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const galley = [process.execPath, join(root, "bin/galley.js")];

const commands = [
  { type: "get_state" },
  { type: "get_available_models" },
  { type: "get_messages" },
  { type: "get_session_stats" },
  { type: "prompt", message: "help" },
];

/** What can be asked of the program, as arguments and what is written to it. */
export const visits = {
  rpc: { args: ["--mode", "rpc"], drive: driveRpc },
  print: { args: ["-p", "show notes.txt"], drive: closeInput },
  models: { args: ["--list-models"], drive: closeInput },
  paths: { args: ["config", "paths"], drive: closeInput },
  tools: { args: ["tools", "list"], drive: closeInput },
  trust: { args: ["trust"], drive: closeInput },
  sessions: { args: ["sessions", "list"], drive: closeInput },
};

export async function visit(name, repository, { program = galley, canTrace, patienceMs = 30_000 } = {}) {
  const { args, drive } = visits[name];
  const { child, started } = spawnTraced([...program, ...args], {
    cwd: repository.cwd,
    env: { PATH: process.env.PATH, HOME: repository.home },
    stdio: ["pipe", "pipe", "pipe"],
    traceFile: join(repository.base, `trace-${name}`),
    ...(canTrace === undefined ? {} : { canTrace }),
  });
  let output = "";
  let hung = false;
  child.stdin.on("error", () => {}); // it ended before it was asked; its end says so
  child.stderr.resume();
  const ended = new Promise((resolve) => child.once("close", resolve));
  const patience = setTimeout(() => {
    hung = true;
    kill(child);
  }, patienceMs);
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    drive(child, output);
  });
  drive(child, output);
  await ended;
  clearTimeout(patience);
  return { hung, answered: output !== "", executions: started().filter((argv) => !isOurs(argv)) };
}

function closeInput(child) {
  if (!child.stdin.writableEnded) child.stdin.end();
}

function driveRpc(child, output) {
  if (output === "") child.stdin.write(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
  if (output.includes('"type":"agent_settled"')) closeInput(child);
}

/** The program's own helpers: itself again, and what it brought along. */
function isOurs(argv) {
  const [path] = argv;
  if (argv.includes("galley-reaper")) return true;
  return path.startsWith(root) || (path === process.execPath && (argv[2]?.startsWith(root) ?? false));
}

function kill(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // it was ending already
  }
}
