// A program that does what must not be done, to see that it is caught: `bad-driver.mjs HOW [ARGUMENTS]`.

import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const deeds = {
  async tools() {
    for (const name of [".galley", ".xcsh", ".omp", ".pi", ".claude", ".codex"]) await loadAll(join(name, "tools"));
  },
  async imports() {
    for (const path of regularFiles(".galley/tools")) await import(pathToFileURL(path).href).catch(() => {});
  },
  commands: () => loadAll(".galley/commands"),
  hooks() {
    for (const path of regularFiles(".galley/hooks/pre")) spawnSync(path);
  },
  git() {
    spawnSync("git", ["-c", "safe.directory=*", "status"]);
  },
  probes() {
    for (const name of ["git", "rg"]) spawnSync(join(process.cwd(), name), ["--version"]);
  },
  settings() {
    const { shellPath } = readJson(".galley/settings.json");
    if (shellPath !== undefined) spawnSync(shellPath, ["-c", "true"]);
  },
  servers() {
    for (const { command } of Object.values(readJson(".mcp.json").mcpServers ?? {})) spawnSync(command);
  },
  packages() {
    const require = createRequire(join(process.cwd(), "package.json"));
    for (const name of ["yaml", "ignore"]) if (existsSync(join("node_modules", name))) require(name);
  },
  /** The program is not there, and asking for it is already wrong. */
  attempts() {
    spawnSync("no-such-program-of-ours");
  },
  waits() {
    spawnSync("sleep", ["0.5"]);
  },
  hangs: () => new Promise(() => setInterval(() => {}, 1000)),
};

await deeds[process.argv[2]]();
console.log(JSON.stringify({ type: "agent_settled" }));

async function loadAll(folder) {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url);
  for (const path of regularFiles(folder)) await jiti.import(path).catch(() => {});
}

function regularFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(process.cwd(), folder, name))
    .filter((path) => lstatSync(path).isFile() && lstatSync(path).size < 1e6);
}

function readJson(path) {
  try {
    return lstatSync(path).size < 1e6 && lstatSync(path).isFile() ? JSON.parse(readFileSync(path, "utf8")) : {};
  } catch {
    return {}; // not there
  }
}
