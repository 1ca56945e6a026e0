// Many files at once, and what that costs.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { hashOf, projectIn } from "./project.mjs";

/** How long so many files of 4 KiB take, and how long plain writing and syncing of as many. */
export async function measureCrowd({ module, directory, files, repeat = 3 }) {
  const journal = await import(module);
  const applyMs = [];
  const plainMs = [];
  const problems = [];
  for (let round = 0; round < repeat; round++) {
    const project = projectIn(join(directory, "crowd"), journal);
    const ops = Array.from({ length: files }, (_, index) => {
      const path = join(project.root, `d${index % 20}`, `f${index}`);
      const old = randomBytes(4096);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, old);
      return { kind: "modify", path, shownPath: `f${index}`, beforeHash: hashOf(old), bytes: randomBytes(4096) };
    });
    let started = performance.now();
    await project.apply(ops);
    applyMs.push(performance.now() - started);
    if (!ops.every(({ path, bytes }) => readFileSync(path).equals(bytes))) problems.push("other bytes than planned");
    if (project.leftOvers().length > 0) problems.push(`left over: ${project.leftOvers()}`);
    started = performance.now();
    for (const { path, bytes } of ops) {
      const file = openSync(`${path}.plain`, "w");
      writeSync(file, bytes);
      fsyncSync(file);
      closeSync(file);
    }
    plainMs.push(performance.now() - started);
  }
  const best = (list) => Math.round(Math.min(...list) * 10) / 10;
  return { files, applyMs: best(applyMs), plainMs: best(plainMs), problems };
}
