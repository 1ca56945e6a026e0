// A program that speaks the protocol, started and watched from the host's end. Promises: a moment is taken when the bytes
// arrive, before anything is parsed; nothing waits for ever; a program that dies fails whoever waits for it.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "galley-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** Where the measured programs work. */
export const workspace = join(scratch, "workspace");
mkdirSync(workspace);

export const galley = {
  name: "galley",
  args: (url) => [join(root, "bin/galley.js"), "--mode", "rpc", ...(url ? ["--model", "bench/m"] : [])],
};
export const floor = { name: "floor", args: (url) => [join(root, "bench/floor.mjs"), ...(url ? [url] : [])] };

const patienceMs = 60_000;
const longestMarker = 256;
let agentDirectories = 0;

/** A small environment: neither the user's keys and proxies nor certificates that Node would load may have a say. */
export function environment(url) {
  const agentDir = join(scratch, `agent-${agentDirectories++}`);
  mkdirSync(agentDir);
  if (url) {
    const bench = { baseUrl: `${url}/v1`, api: "openai-completions", auth: "none", models: [{ id: "m" }] };
    writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { bench } }));
  }
  return { PATH: process.env.PATH, HOME: scratch, TMPDIR: scratch, GALLEY_AGENT_DIR: agentDir };
}

export class Agent {
  readonly = undefined;
}
