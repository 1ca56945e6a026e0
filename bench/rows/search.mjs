// grep and find over a tree of real source files, against plain ripgrep with the same question. `find` tells the newest
// first: where all files are wanted every one has to be looked at for it, which is `--sortr=modified`; how far that is
// from a list in any order is told beside it. What the model's turn costs around each call is part of the time.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { galley, root, workspace } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";
import { burst, toolCall, withAgent } from "../kit/model.mjs";

const calls = 10;
const rounds = 7;
const leastFiles = 5000;
const largestBytes = 512 * 1024;
const tree = join(workspace, "tree");

const questions = [
  { name: "grep, rare", tool: "grep", args: { pattern: "createRequire" }, ripgrep: ["-n", "createRequire"] },
  { name: "grep, common", tool: "grep", args: { pattern: "const" }, ripgrep: ["-n", "const"] },
  { name: "grep, none", tool: "grep", args: { pattern: "nowhere to be seen" }, ripgrep: ["nowhere to be seen"] },
  { name: "find, some", tool: "find", args: { pattern: "tree/**/index.*" }, ripgrep: ["--files", "--hidden"] },
  {
    name: "find, all",
    tool: "find",
    args: { pattern: "tree/**/*" },
    ripgrep: ["--files", "--hidden", "--sortr=modified"],
    unsorted: ["--files", "--hidden"],
  },
];

export async function search() {
  const files = plant();
  const rows = [];
  for (const { name, tool, args, ripgrep, unsorted } of questions) {
    const samples = await alternate(rounds, {
      rg: () => askRipgrep(ripgrep),
      galley: () => askGalley(tool, tool === "grep" ? { ...args, path: "tree" } : args),
      ...(unsorted ? { unsorted: () => askRipgrep(unsorted) } : {}),
    });
    const compare = (reference, limit) =>
      rows.push(
        row({
          name: `${calls} calls over ${files} files: ${name}`,
          unit: "ms",
          samples: samples.galley,
          against: reference,
          limit,
        }),
      );
    compare({ name: "rg", samples: samples.rg }, 1.2);
    if (unsorted) compare({ name: "rg, in any order", samples: samples.unsorted });
  }
  return rows;
}

/** Copies the installed packages, as often as it takes. Returns how many files there are. */
function plant() {
  const packages = join(root, "node_modules");
  const sources = readdirSync(packages, { recursive: true })
    .filter((name) => /\.(?:[cm]?[jt]s|json|md)$/.test(name))
    .filter((name) => {
      const stat = statSync(join(packages, name));
      return stat.isFile() && stat.size <= largestBytes;
    });
  expect(sources.length > 0, "there is no installed package to copy");
  let count = 0;
  for (let part = 1; count < leastFiles; part++)
    for (const name of sources) {
      // A directory of that name would be skipped.
      const target = join(tree, `part-${part}`, name.replaceAll("node_modules", "nested"));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(packages, name), target);
      count++;
    }
  return count;
}

/** The first call of a process loads code and starts the watcher; it is made before the clock runs. */
function askGalley(tool, args) {
  const replies = Array.from({ length: calls + 1 }, (_, index) => toolCall(`call_${index}`, tool, args));
  const script = [replies[0], burst(["Ready."]), ...replies.slice(1), burst(["Done."])];
  return withAgent(galley, { replies: script }, async (agent, server) => {
    await agent.prompt("Warm up.");
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Search.");
    const results = server.requests.at(-1).body.messages.filter(({ role }) => role === "tool");
    const texts = new Set(results.map(({ content }) => JSON.stringify(content)));
    const [text = ""] = texts;
    expect(results.length === calls + 1 && texts.size === 1, "not every call told the same");
    expect(
      /part-\d|No matches found/.test(text) && !text.includes("without ripgrep"),
      `an answer is wrong: ${text.slice(0, 300)}`,
    );
    return settledAt - askedAt;
  });
}

async function askRipgrep(args) {
  const startedAt = performance.now();
  for (let call = 0; call < calls; call++) await runRipgrep(args);
  return performance.now() - startedAt;
}

function runRipgrep(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(ripgrepPath(), [...args, "./"], { cwd: tree, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.on("data", () => {});
    child.once("error", reject);
    child.once("close", (code) => (code <= 1 ? resolve() : reject(new Error(`rg ended with ${code}`))));
  });
}

function ripgrepPath() {
  const entry = createRequire(import.meta.url).resolve("@vscode/ripgrep");
  return createRequire(entry).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
}
