// The search tools on a tree like that of a large public repository (kit/plant-tree.mjs), against the programs that a
// user would start for the same question. Each sample of galley is a call in a session that has searched before.

import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { galley, root, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";
import { burst, toolCall, withAgent } from "../kit/model.mjs";
import { watchMemory } from "../kit/peak-memory.mjs";
import { plantTree } from "../kit/plant-tree.mjs";

const tree = join(workspace, "real-tree");
const astGrep = join(root, `node_modules/@ast-grep/cli-${process.platform}-${process.arch}-gnu/ast-grep`);
const grepCalls = 5;
const grepRounds = 7;
const editRounds = 5;
const everythingRounds = 3;
/** The default limit of `grep`, and the one match more that shows that there are others. */
const enoughLines = 21;
const mostMiB = 300;

export async function realTree() {
  const files = plantTree(tree);
  return [...(await grepRows(files)), ...(await editRows(files)), ...(await everythingRows(files))];
}

async function grepRows(files) {
  const { common, sorted, rare, all } = await alternate(grepRounds, {
    common: () => ask("grep", { pattern: "const", path: "real-tree" }, { answer: /limit reached/, calls: grepCalls }),
    sorted: () => runRipgrep(["--sort=path", "-n", "const"], enoughLines),
    rare: () => ask("grep", { pattern: "deepCopyOf", path: "real-tree" }, { answer: /deepCopyOf/, calls: grepCalls }),
    all: () => runRipgrep(["-n", "deepCopyOf"]),
  });
  const add = (name, samples, against, limit) =>
    row({ name: `grep in ${files} files, ${name}`, unit: "ms", samples: pluck(samples, "ms"), against, limit });
  return [
    add("limit full", common, { name: "rg --sort=path, stopped", samples: sorted }, 3),
    add("rare word", rare, { name: "rg", samples: all }, 1.5),
  ];
}

async function editRows(files) {
  const rows = [];
  // No pattern of the two can match inside its own match, whatever the sources that the tree is made of look like.
  for (const [kind, word, pat, out] of [
    ["rare", "deepCopyOf", "deepCopyOf($$$A)", "changed($$$A)"],
    ["common", "JSON.stringify", "JSON.stringify", "changed"],
  ]) {
    const edit = { ops: [{ pat, out }], paths: ["real-tree"], lang: "ts" };
    const samples = await alternate(editRounds, {
      galley: () => ask("ast_edit", edit, { answer: /Staged as/ }),
      programs: () => runPrograms(word, pat, out),
    });
    const against = { name: "rg -l | ast-grep", samples: samples.programs };
    const name = `ast_edit preview, ${files} files, ${kind} pattern`;
    rows.push(row({ name, unit: "ms", samples: pluck(samples.galley, "ms"), against, limit: 1.5 }));
  }
  return rows;
}

/** No language, and no word that a match must contain: every file of every language is parsed. */
async function everythingRows(files) {
  const edit = { ops: [{ pat: "!!$A", out: "Boolean($A)" }], paths: ["real-tree"] };
  const samples = await alternate(everythingRounds, {
    galley: () => ask("ast_edit", edit, { answer: /Staged as/, isWatched: true }),
    program: () => runAstGrep(["-p", "!!$A", "-r", "Boolean($A)"], ["ts", "tsx", "js"], [tree]),
  });
  const name = `ast_edit preview, ${files} files, everything parsed`;
  const against = { name: "ast-grep, 3 languages", samples: samples.program };
  const most = { name: "what is allowed", samples: [mostMiB] };
  return [
    row({ name, unit: "ms", samples: pluck(samples.galley, "ms"), against, limit: 1.5 }),
    row({ name, unit: "MiB", samples: pluck(samples.galley, "peakMiB"), against: most, limit: 1 }),
  ];
}

/** The first call loads code and starts what is kept running; it is a small one, made before the clock runs. */
function ask(tool, args, { answer, calls = 1, isWatched = false }) {
  const small = "real-tree/packages/package-1/styles";
  const first = { grep: { pattern: "nowhere", path: small }, ast_edit: { ...args, lang: "css", paths: [small] } }[tool];
  const asked = Array.from({ length: calls }, (_, index) => toolCall(`call_${index}`, tool, args));
  const replies = [toolCall("warm_up", tool, first), burst(["Ready."]), ...asked, burst(["Done."])];
  return withAgent(galley, { replies }, async (agent, server) => {
    await agent.prompt("Warm up.");
    const memory = isWatched ? watchMemory() : undefined; // which takes time
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Search.");
    const peakMiB = memory?.stop();
    const result = JSON.stringify(
      server.requests.at(-1).body.messages.findLast(({ role }) => role === "tool")?.content,
    );
    expect(answer.test(result), `an answer is wrong: ${result?.slice(0, 300)}`);
    return { ms: (settledAt - askedAt) / calls, peakMiB };
  });
}

/** Until it ends, or until it has printed so many lines. */
function runRipgrep(args, stopAt = Number.POSITIVE_INFINITY) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(ripgrepPath(), [...args, "./"], { cwd: tree, stdio: ["ignore", "pipe", "ignore"] });
    let lines = 0;
    child.stdout.on("data", (chunk) => {
      lines += chunk.toString("latin1").split("\n").length - 1;
      if (lines >= stopAt) child.kill("SIGKILL");
    });
    child.once("error", reject);
    child.once("close", () => resolve(performance.now() - startedAt));
  });
}

function runPrograms(word, pat, out) {
  const startedAt = performance.now();
  const args = ["--files-with-matches", "--fixed-strings", "--type=ts", word, tree];
  const { stdout } = spawnSync(ripgrepPath(), args, { encoding: "utf8", maxBuffer: 1 << 30 });
  const files = stdout.split("\n").filter((path) => path !== "");
  expect(files.length > 0, `no file has ${word}`);
  runAstGrep(["-p", pat, "-r", out], ["ts"], files);
  return performance.now() - startedAt;
}

function runAstGrep(args, languages, paths) {
  const startedAt = performance.now();
  for (const lang of languages) {
    const all = ["run", ...args, "--lang", lang, "--color", "never", ...paths];
    const { status, stderr } = spawnSync(astGrep, all, { encoding: "utf8", maxBuffer: 1 << 30 });
    expect(status === 0 || status === 1, `ast-grep failed: ${stderr?.slice(-300)}`);
  }
  return performance.now() - startedAt;
}

function ripgrepPath() {
  const entry = createRequire(import.meta.url).resolve("@vscode/ripgrep");
  return createRequire(entry).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
}
