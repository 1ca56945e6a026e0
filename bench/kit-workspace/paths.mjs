// Hostile paths: generated ones against a hand-made truth, and links that are swapped while a file is written.

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { randomFrom } from "../kit-session/random.mjs";
import { withoutSync } from "./paths-build.mjs";
import { follow, makeTree } from "./paths-tree.mjs";

export { buildWorkspaceModule } from "./paths-build.mjs";

const pathsPerTree = 10_000;
/** The calls of Node that return promises take most of the time; every so many paths go through them all the same. */
const promisedEvery = 500;

export async function runPaths({ module, directory, count, seed }) {
  const { createWorkspace, nodeDisk } = await import(module);
  const random = randomFrom(seed);
  const figures = { paths: 0, accepted: 0, protectedPaths: 0, escapes: 0, falseAccepts: 0, falseRefusals: 0 };
  const problems = [];
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // most paths are refused, and the stacks of that would be a tenth of the time
  for (let tree = 0; figures.paths < count; tree++) {
    const base = fs.realpathSync(fs.mkdtempSync(join(directory, "paths-")));
    const nodes = makeTree(base, random);
    const known = [...nodes.keys()].filter((path) => path.startsWith(`${base}/`));
    const root = join(base, "root");
    const home = join(base, "home");
    const options = { cwd: root, home, agentDir: join(home, ".galley/agent") };
    const quick = createWorkspace(rememberingCalls(nodeDisk), options);
    const promised = createWorkspace(nodeDisk, options);
    for (let number = 0; number < pathsPerTree && figures.paths < count; number++) {
      const input = inputFor(base, known, random);
      const workspace = number % promisedEvery === 0 ? promised : quick;
      const target = await workspace.resolve(input, "write").catch((error) => {
        if (error?.name !== "GalleyError") problems.push(`${JSON.stringify(input)}: ${error}`);
        return undefined;
      });
      figures.paths++;
      const truths = meanings(input, { root, home }).map((path) => ({ path, ...truthAbout(nodes, path, root) }));
      if (truths.some(({ isProtected }) => isProtected)) figures.protectedPaths++;
      const fault = target ? faultOf(target, truths, root) : missedBy(truths);
      if (target) figures.accepted++;
      if (fault === undefined) continue;
      figures[fault]++;
      problems.push(`seed ${seed}, tree ${tree}: ${fault}: ${JSON.stringify(input)} -> ${JSON.stringify(target)}`);
    }
    fs.rmSync(base, { recursive: true });
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { ...figures, problems: problems.slice(0, 20) };
}

function faultOf(target, truths, root) {
  // Asked of the system itself, whatever the truth by hand says.
  let existing = target.path;
  while (!fs.existsSync(existing)) existing = dirname(existing);
  if (fs.realpathSync.native(existing) !== existing || !target.path.startsWith(`${root}/`)) return "escapes";
  const isTrue = truths.some(
    ({ mayWrite, canonical, kind }) => mayWrite && canonical === target.path && kind === target.kind,
  );
  return isTrue ? undefined : "falseAccepts";
}

/** An input with several meanings may be refused for the first of them. */
function missedBy(truths) {
  return truths.length === 1 && truths[0].mayWrite ? "falseRefusals" : undefined;
}

/** The absolute paths that an input can mean; none for what no path may be. */
function meanings(input, { root, home }) {
  const bare = input.startsWith("@") && input !== "@" ? input.slice(1) : input;
  const texts = [...new Set([input, bare, bare.replaceAll("\u00a0", " ")])];
  if (texts.some((text) => !isPath(text)) || input.endsWith("/")) return [];
  return [...new Set(texts.map((text) => lexical(text, { root, home })))].filter((path) =>
    path.split("/").every((name) => Buffer.byteLength(name) <= 255),
  );
}

function isPath(text) {
  const hasControl = [...text].some((character) => character < " " || (character >= "\u007f" && character <= "\u009f"));
  return text.trim() !== "" && !hasControl && !/^~[^/]/.test(text) && Buffer.byteLength(text) <= 4096;
}

function lexical(text, { root, home }) {
  const start = text.startsWith("/") ? "" : text.startsWith("~") ? home : root;
  const names = [];
  for (const name of `${start}/${text.startsWith("~") ? text.slice(1) : text}`.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

function truthAbout(nodes, path, root) {
  const { path: canonical, kind } = follow(nodes, path);
  const isProtected = [path, canonical].some((place) =>
    place.split("/").some((name) => guarded.has(name.toLowerCase())),
  );
  const isInside = canonical.startsWith(`${root}/`);
  return { canonical, kind, isProtected, mayWrite: isInside && !isProtected && (kind === "file" || kind === "absent") };
}

const guarded = new Set([".git", ".galley", ".vscode", ".idea", ".gitmodules", ".mcp.json", ".envrc"]);
const odd = [
  ...["..", "..", "..", ".", "", "new", "new.ts", "N", ".GIT", ".git", ".Vscode", ".mcp.json", ".envrc", ".gitignore"],
  ...[
    "a\u0000b",
    "a\nb",
    "x".repeat(256),
    "é".repeat(127),
    "nbsp\u00a0name",
    "root-evil",
    "outside",
    "\u202e",
    "*",
    "~",
  ],
];
const starts = ["", "", "", "", "", "./", "../", "/", "~/", "~", "~bob/", "@", "@../", "../root/", "../root-evil/"];

/** Mostly along the tree, from node to node, and now and then astray. */
function inputFor(base, known, random) {
  const absolute = random.below(8) === 0;
  let path = absolute ? `${base}/${random.pick(["root", "root", "outside", "home", ""])}/` : random.pick(starts);
  if (random.below(3) > 0) path += below(base, random.pick(known));
  for (let more = random.below(4); more > 0; more--)
    path += `/${random.below(3) === 0 ? random.pick(odd) : someName(known, random)}`;
  return random.below(30) === 0 ? `${path}/` : path;
}

function below(base, path) {
  return path.startsWith(`${base}/root/`) ? path.slice(base.length + 6) : path.slice(base.length + 1);
}

function someName(known, random) {
  return random.pick(known).split("/").at(-1);
}

/** The same questions to the same disk, without a thread in between, and each asked once: the tree stays as it is. */
function rememberingCalls(disk) {
  const absent = Object.assign(new Error("not there"), { code: "ENOENT" });
  const once = (ask) => {
    const answers = new Map();
    return (path) => {
      if (!answers.has(path)) answers.set(path, ask(path));
      return answers.get(path);
    };
  };
  const promised = (ask) => {
    const answerTo = once(ask);
    return async (path) => {
      const answer = answerTo(path);
      if (answer instanceof Error) throw answer;
      return answer;
    };
  };
  const statOf = once((path) => fs.lstatSync(path, { throwIfNoEntry: false }));
  const ifThere = (path, ask) => {
    const stat = statOf(path);
    try {
      return stat ? ask(stat) : absent;
    } catch (error) {
      return error;
    }
  };
  return {
    ...disk,
    realpath: promised((path) => ifThere(path, () => fs.realpathSync.native(path))),
    lstat: promised((path) =>
      ifThere(path, (stat) => {
        const { mode, uid, gid, nlink: linkCount } = stat;
        return { kind: kindOf(stat), kindName: "", identity: `${stat.dev}:${stat.ino}`, mode, uid, gid, linkCount };
      }),
    ),
    list: promised((path) =>
      fs.readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    ),
  };
}

function kindOf(entry) {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "special";
}

/** Another thread turns directories and files into links that lead outside, and back, without a pause. */
export async function runSwaps({ module, directory, rounds, seed }) {
  const { createWorkspace, nodeDisk } = await import(module);
  const random = randomFrom(seed);
  const base = fs.realpathSync(fs.mkdtempSync(join(directory, "swaps-")));
  const root = join(base, "root");
  const outside = join(base, "outside");
  for (const place of [join(root, "dir/sub"), join(outside, "sub")]) fs.mkdirSync(place, { recursive: true });
  for (const place of ["root/dir/file", "root/dir/sub/file", "root/file", "outside/file", "outside/sub/file"])
    fs.writeFileSync(join(base, place), "untouched");
  const untouched = pictureOf(outside);
  const workspace = createWorkspace(withoutSync(nodeDisk), {
    cwd: root,
    home: join(base, "home"),
    agentDir: join(base, "agent"),
  });
  const figures = { rounds, written: 0, refused: 0, swaps: 0, outsideWrites: 0, leftOvers: 0, torn: 0 };
  const problems = [];
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(fileURLToPath(new URL("paths-swapper.mjs", import.meta.url)), {
    workerData: { root, outside, pile: join(base, "pile"), shared },
  });
  const ended = new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
  try {
    while (Atomics.load(shared, 1) === 0) await new Promise(setImmediate);
    const names = ["dir/file", "dir/sub/file", "file", "dir/new", "dir/sub/new", "dir/made/new"];
    for (let round = 0; round < rounds; round++) {
      const content = `round ${round}`;
      try {
        const target = await workspace.resolve(random.pick(names), "write");
        await workspace.writeFile(target, { bytes: Buffer.from(content) });
        figures.written++;
      } catch (error) {
        if (error?.name !== "GalleyError") problems.push(String(error?.stack));
        figures.refused++;
      }
    }
  } finally {
    Atomics.store(shared, 0, 1);
    await ended;
  }
  figures.swaps = Atomics.load(shared, 1);
  if (pictureOf(outside) !== untouched) figures.outsideWrites++;
  for (const name of fs.readdirSync(base, { recursive: true }).map(String)) {
    if (/\.[0-9a-f]{32}-\d+\.(?:new|old)$/.test(name)) figures.leftOvers++;
    const path = join(base, name);
    if (fs.lstatSync(path).isFile() && !/^(?:untouched|round \d+)$/.test(fs.readFileSync(path, "utf8"))) figures.torn++;
  }
  fs.rmSync(base, { recursive: true });
  return { ...figures, problems };
}

/** Names, bytes and times: making and removing a file shows in the time of its directory. */
function pictureOf(directory) {
  const names = ["", ...fs.readdirSync(directory, { recursive: true }).map(String).sort()];
  return JSON.stringify(
    names.map((name) => {
      const path = join(directory, name);
      const { mtimeNs, ino, nlink } = fs.statSync(path, { bigint: true });
      return [
        name,
        String(mtimeNs),
        String(ino),
        String(nlink),
        fs.statSync(path).isFile() ? fs.readFileSync(path, "utf8") : "",
      ];
    }),
  );
}
