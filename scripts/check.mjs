// Types, lint, layers, the tables of the docs and of models, side by side; prints each one's output only when it fails.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const checks = {
  types: ["node_modules/.bin/tsc", ["-p", "tsconfig.json"]],
  lint: ["node_modules/.bin/biome", ["check", "--error-on-warnings", "."]],
  layers: [process.execPath, ["scripts/check-layers.mjs"]],
  docs: [process.execPath, ["scripts/rpc-tables.mjs"]],
  settings: [process.execPath, ["scripts/settings-tables.mjs"]],
  models: [process.execPath, ["scripts/check-models.mjs"]],
};

const results = await Promise.all(Object.entries(checks).map(([name, command]) => run(name, ...command)));
for (const { name, code, output } of results) {
  if (code !== 0) process.stdout.write(output);
  console.log(`${name}: ${code === 0 ? "ok" : `failed (exit ${code})`}`);
}
if (results.some(({ code }) => code !== 0)) process.exitCode = 1;

function run(name, program, args) {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ name, code: 1, output: `${error.message}\n` }));
    child.on("close", (code) => resolve({ name, code, output }));
  });
}
