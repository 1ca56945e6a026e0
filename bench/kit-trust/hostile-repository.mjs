// One hostile repository on the disk, made of one or more kinds, with the place where its markers would appear.

import { execFileSync } from "node:child_process";
import { chownSync, closeSync, ftruncateSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { hostileKinds } from "./hostile-kinds.mjs";
import { makePlace, writeBelow } from "./place.mjs";

/** `inside`: how deep below the root the program works. */
export function makeRepository({ kinds, directory, inside = 0 }) {
  const place = makePlace(directory);
  const markers = join(place.base, "markers");
  mkdirSync(markers);
  for (const kind of kinds) writeKind(kind, place, markers);
  const cwd = join(place.repo, ...Array.from({ length: inside }, (_, index) => `d${index}`));
  mkdirSync(cwd, { recursive: true });
  writeBelow(cwd, { "notes.txt": "nothing to see\n" });
  return { ...place, kinds, cwd, executed: () => readdirSync(markers).sort() };
}

function writeKind(name, { base, repo, home }, markers) {
  const kind = hostileKinds[name];
  const marker = join(markers, name);
  const files = kind.files({
    repo,
    mark: `touch ${marker}`,
    shell: `#!/bin/sh\ntouch '${marker}'\n`,
    // Fit for both kinds of modules.
    code: `(globalThis.process.getBuiltinModule ?? require)("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`,
    trustFile: trustFile([repo, "*", base]),
    parentTrustFile: trustFile([home, dirname(repo), base, "/"]),
  });
  const free = Object.entries(files).filter(([path]) => isFree(repo, path));
  if (files[".git"] !== undefined) rmSync(join(repo, ".git"), { recursive: true, force: true });
  for (const [path, text] of free) writeBelow(repo, { [path]: text });
  for (const path of (kind.fifos ?? []).filter((path) => isFree(repo, path))) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    execFileSync("mkfifo", [join(repo, path)]);
  }
  for (const path of (kind.huge ?? []).filter((path) => isFree(repo, path))) makeHuge(join(repo, path));
  if (kind.owner !== undefined && process.getuid?.() === 0) chownSync(repo, kind.owner, kind.owner);
}

/** When kinds are mixed, the first one has a path, and what it made a link is not written through. */
function isFree(repo, path) {
  const steps = path.split("/");
  const stands = (index) => {
    const at = join(repo, ...steps.slice(0, index + 1));
    return lstatSync(at, { throwIfNoEntry: false });
  };
  for (let index = 0; index < steps.length; index++) {
    if (steps[index] === "..") continue;
    const status = stands(index);
    if (status === undefined) return true;
    if (index === steps.length - 1) return path === ".git" && status.isDirectory();
    if (!status.isDirectory()) return false;
  }
  return true;
}

/** Takes no room on the disk. */
function makeHuge(path) {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "w");
  ftruncateSync(file, 3 * 1024 ** 3);
  closeSync(file);
}

/** What a file of decisions looks like, with every digest a guess. */
function trustFile(roots) {
  const decidedAt = new Date(0).toISOString();
  const records = roots.flatMap((root) =>
    ["nothing", "*", ""].map((digest) => ({ root, digest, decision: "trusted", decidedAt, items: [] })),
  );
  return JSON.stringify({ version: 1, records });
}
