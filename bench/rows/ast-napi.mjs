// The reference for ast_edit: what a program that knows nothing but the parser does. Run by rows/ast.mjs; prints one line
// of JSON. `plain` parses every file on one thread; `prefilter` looks for the pattern's words first, on two.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { parse } from "@ast-grep/napi";

const threads = 2;

if (isMainThread) {
  const [way, root, pattern, name] = process.argv.slice(2);
  const startedAt = performance.now();
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const words = way === "prefilter" ? pattern.replace(/\$+[A-Z]+/g, " ").match(/\w\w+/g) : [];
  const work = { files, words, pattern, name };
  const counts = way === "prefilter" ? await onThreads(work) : [rewriteAll(work)];
  const replacements = counts.reduce((sum, count) => sum + count, 0);
  const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
  console.log(JSON.stringify({ files: files.length, replacements, ms: performance.now() - startedAt, peakMiB }));
} else parentPort.postMessage(rewriteAll(workerData));

function onThreads({ files, ...rest }) {
  return Promise.all(
    Array.from({ length: threads }, (_, thread) => {
      const part = files.filter((_file, index) => index % threads === thread);
      const worker = new Worker(new URL(import.meta.url), { workerData: { ...rest, files: part } });
      return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    }),
  );
}

function rewriteAll({ files, words, pattern, name }) {
  let count = 0;
  for (const file of files) {
    const bytes = readFileSync(file);
    if (!words.every((word) => bytes.includes(word))) continue;
    const root = parse(/\.[cm]?ts$/.test(file) ? "TypeScript" : "JavaScript", bytes.toString()).root();
    if (root.find({ rule: { kind: "ERROR" } })) continue;
    const edits = root.findAll(pattern).map((match) => {
      const args = match.getMultipleMatches("A").map((node) => node.text());
      return match.replace(`${name}(${args.join("")})`);
    });
    if (edits.length > 0) root.commitEdits(edits);
    count += edits.length;
  }
  return count;
}
