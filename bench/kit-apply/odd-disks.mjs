// Disks that are full, or take two spellings for one name.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesBelow, hashOf, namesBelow, projectIn } from "./project.mjs";

/** On a disk with less and less room it is all or nothing, and says why. */
export async function runFullDisks({ module, directory, rounds, seed }) {
  const journal = await import(module);
  const place = join(directory, "full");
  const figures = { rounds: 0, applied: 0, refused: 0, torn: 0, problems: [] };
  const reason = mount(place, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
  if (reason) return { ...figures, skipped: reason };
  try {
    const random = journal.seeded(seed);
    for (let round = 0; round < rounds; round++) {
      const project = projectIn(join(place, "x"), journal);
      const ops = [];
      for (let index = 0; index < 12; index++) {
        const path = join(project.root, `d${index % 3}`, `f${index}`);
        const old = randomBytes(4096);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, old);
        const bytes = randomBytes(1 + Math.floor(random() * 20_000));
        ops.push({ kind: "modify", path, shownPath: `f${index}`, beforeHash: hashOf(old), bytes });
      }
      fill(join(project.root, "ballast"), Math.floor(random() * 350_000));
      const before = JSON.stringify(filesBelow(project.root));
      const error = await project.apply(ops).then(
        () => undefined,
        (failure) => failure,
      );
      figures.rounds++;
      figures[error ? "refused" : "applied"]++;
      const after = JSON.stringify(filesBelow(project.root));
      const isNew = ops.every(({ path, bytes }) => readFileSync(path).equals(bytes));
      if (error ? after !== before : !isNew) figures.torn++;
      if (project.leftOvers().length > 0) figures.problems.push(`left over: ${project.leftOvers()}`);
      if (error && !/^Apply failed: .+: ENOSPC\. All files were restored\.$/.test(error.message))
        figures.problems.push(error.message);
    }
  } finally {
    execFileSync("umount", [place]);
  }
  return figures;
}

/** Takes what there is but for the last few bytes. */
function fill(path, leaveBytes) {
  const file = openSync(path, "w");
  const block = Buffer.alloc(4096, 1);
  let written = 0;
  try {
    for (;;) written += writeSync(file, block);
  } catch {
    // full
  }
  closeSync(file);
  writeFileSync(path, Buffer.alloc(Math.max(0, written - leaveBytes), 1));
}

/** A directory in which `A` and `a` are one name. */
export async function runFoldedNames({ module, directory }) {
  const journal = await import(module);
  const [image, place] = [join(directory, "folding.img"), join(directory, "folding")];
  const figures = { applies: 0, problems: [] };
  try {
    closeSync(openSync(image, "w"));
    execFileSync("truncate", ["-s", "16m", image]);
    execFileSync("mkfs.ext4", ["-q", "-O", "casefold", "-E", "encoding=utf8", image], { stdio: "pipe" });
  } catch (error) {
    return { ...figures, skipped: `no such file system can be made: ${String(error.message).split("\n")[0]}` };
  }
  const reason = mount(place, ["-o", "loop", image]);
  if (reason) return { ...figures, skipped: reason };
  try {
    const project = projectIn(join(place, "x"), journal);
    execFileSync("chattr", ["+F", project.root]);
    const path = (name) => join(project.root, name);
    const check = (what, expected) => {
      const found = JSON.stringify(namesBelow(project.root).map((name) => [name, readFileSync(path(name), "utf8")]));
      if (found !== JSON.stringify(expected)) figures.problems.push(`${what}: ${found}`);
      if (project.leftOvers().length > 0) figures.problems.push(`${what}: left over ${project.leftOvers()}`);
    };
    const create = (name) => ({ kind: "create", path: path(name), shownPath: name, bytes: Buffer.from("new") });
    const refused = await project
      .apply([create("Read.md"), create("README.md"), create("rEAD.md")])
      .catch((error) => error);
    figures.applies++;
    if (!/here it is the same name as/.test(refused.message))
      figures.problems.push(`two spellings: ${refused.message ?? "applied"}`);
    check("two spellings", []);
    writeFileSync(path("Read.md"), "old");
    const seen = { path: path("Read.md"), shownPath: "Read.md", beforeHash: hashOf("old") };
    const to = { to: path("README.md"), shownTo: "README.md" };
    await project.apply([
      { kind: "rename", ...seen, to: path("READ.md"), shownTo: "READ.md", bytes: Buffer.from("old") },
    ]);
    figures.applies++;
    check("a respelled name", [["READ.md", "old"]]);
    await project.apply([{ kind: "rename", ...seen, path: path("READ.md"), ...to, bytes: Buffer.from("new") }]);
    figures.applies++;
    check("a renamed file", [["README.md", "new"]]);
  } finally {
    execFileSync("umount", [place]);
  }
  return figures;
}

/** Undefined when it worked. */
function mount(place, options) {
  mkdirSync(place, { recursive: true });
  try {
    execFileSync("mount", [...options, place], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `cannot be mounted here: ${
      String(error.stderr ?? error.message)
        .trim()
        .split("\n")[0]
    }`;
  }
}
