// A structural preview over thousands of real source files: galley through RPC against the bare parser and against the
// ast-grep command line. All of them must find the same replacements.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { galley, root, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";
import { burst, toolCall, withAgent } from "../kit/model.mjs";
import { watchMemory } from "../kit/peak-memory.mjs";

const wantedFiles = 5600;
const corpus = join(workspace, "corpus");
const napi = fileURLToPath(new URL("ast-napi.mjs", import.meta.url));
const commandLine = join(root, `node_modules/@ast-grep/cli-${process.platform}-${process.arch}-gnu/ast-grep`);
const patterns = [
  { kind: "common", pattern: "Object.keys($$$A)", name: "keysOf" },
  { kind: "rare", pattern: "structuredClone($$$A)", name: "copyOf" },
];

export async function ast() {
  const copied = copySources();
  const rows = [];
  for (const { kind, pattern, name } of patterns) {
    const samples = await alternate(3, {
      galley: () => preview(pattern, name),
      plain: () => reference("plain", pattern, name),
      prefilter: () => reference("prefilter", pattern, name),
      ...(existsSync(commandLine) ? { commandLine: () => runCommandLine(pattern, name) } : {}),
    });
    const counts = new Set(
      [...samples.galley, ...samples.plain, ...samples.prefilter].map((each) => each.replacements),
    );
    expect(counts.size === 1 && !counts.has(0), `replacements differ: ${[...counts].join(", ")}`);
    const title = `ast_edit preview, ${copied} files, ${kind} pattern`;
    const add = (unit, key, against, reference, limit) =>
      rows.push(
        row({
          name: title,
          unit,
          samples: pluck(samples.galley, key),
          against: { name: against, samples: pluck(reference, key) },
          limit,
        }),
      );
    add("ms", "ms", "napi", samples.plain, 1.3);
    add("ms", "ms", "napi, words first, 2 threads", samples.prefilter, 1.1);
    if (samples.commandLine) add("ms", "ms", "ast-grep", samples.commandLine);
    add("MiB", "peakMiB", "napi", samples.plain, 1.3);
  }
  return rows;
}

/** The sources of the installed packages, as often as it takes. */
function copySources() {
  const from = join(root, "node_modules");
  const sources = readdirSync(from, { recursive: true })
    .filter((name) => /\.[cm]?[jt]s$/.test(name))
    .filter((name) => statSync(join(from, name)).isFile() && statSync(join(from, name)).size < 1_000_000)
    .sort();
  expect(sources.length > 1000, "too few packages are installed to make a corpus of");
  for (let index = 0; index < wantedFiles; index++) {
    const copy = `copy-${Math.floor(index / sources.length)}`;
    const name = sources[index % sources.length];
    const path = join(corpus, copy, name.replaceAll("node_modules", "modules"));
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(join(from, name), path);
  }
  return wantedFiles;
}

function preview(pattern, name) {
  const args = { ops: [{ pat: pattern, out: `${name}($$$A)` }], paths: ["corpus"] };
  const replies = [toolCall("call_1", "ast_edit", args), burst(["Done."])];
  return withAgent(galley, { replies }, async (agent) => {
    const memory = watchMemory();
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Rewrite it.");
    const peakMiB = memory.stop();
    const end = agent.frames().find(({ type }) => type === "tool_execution_end");
    const replacements = end?.result?.details?.totalReplacements;
    expect(replacements > 0, `no preview: ${JSON.stringify(end)?.slice(0, 300)}`);
    return { ms: settledAt - askedAt, replacements, peakMiB };
  });
}

function reference(way, pattern, name) {
  const { stdout, stderr } = spawnSync(process.execPath, [napi, way, corpus, pattern, name], { encoding: "utf8" });
  expect(stdout.startsWith("{"), `the reference failed: ${stderr.slice(-300)}`);
  return JSON.parse(stdout);
}

/** One language at a time is all it can do. */
function runCommandLine(pattern, name) {
  const startedAt = performance.now();
  for (const lang of ["ts", "js"]) {
    const args = ["run", "-p", pattern, "-r", `${name}($$$A)`, "--lang", lang, "--no-ignore", "hidden", corpus];
    const { status, stderr } = spawnSync(commandLine, args, { encoding: "utf8", maxBuffer: 1 << 30 });
    expect(status === 0 || status === 1, `ast-grep failed: ${stderr.slice(-300)}`);
  }
  return { ms: performance.now() - startedAt };
}
