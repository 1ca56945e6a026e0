// A random tree of files, directories and links on the disk, and the same tree as plain data. On the data every path
// can be followed by hand, the way a kernel does it: what comes out is the truth that the workspace is measured by.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const plainNames = ["a", "b.ts", "C", "src", "lib", "ä", "x y", "...", "..a", "-f", "root-evil", "$HOME", "%2e%2e"];
const linkTargets = [
  "..",
  "../..",
  ".",
  "../root-evil",
  "../outside",
  "../outside/o",
  "/",
  "/etc",
  "nowhere",
  "../nowhere",
  "a/../../outside",
];

/**
 * `base` holds `root`, which may be written, its neighbours `root-evil` and `outside`, and `home`. Answers the nodes by
 * absolute path: "directory", "file", or `{ link }`.
 */
export function makeTree(base, random) {
  const nodes = new Map();
  for (let place = base; ; place = dirname(place)) {
    nodes.set(place, "directory");
    if (place === "/") break;
  }
  const add = (path, node) => {
    if (nodes.has(path)) return;
    if (node === "directory") mkdirSync(path, { recursive: true });
    else if (node === "file") writeFileSync(path, "");
    else symlinkSync(node.link, path);
    nodes.set(path, node);
  };
  const directories = [join(base, "root")];
  for (const name of ["root", "root-evil", "outside", "outside/o", "home", "home/.galley", "home/.galley/agent"])
    add(join(base, name), "directory");
  for (const name of ["outside/f", "root-evil/f", "home/f"]) add(join(base, name), "file");
  add(join(base, "root/.git"), "directory");
  add(join(base, "root/.git/config"), "file");
  for (let count = 0; count < 60; count++) {
    const path = join(random.pick(directories), random.pick(plainNames));
    const kind = random.below(10);
    if (nodes.has(path)) continue;
    if (kind < 4) {
      add(path, "directory");
      directories.push(path);
    } else if (kind < 7) add(path, "file");
    else add(path, { link: linkTarget(base, [...nodes.keys()], random) });
  }
  return nodes;
}

/** To somewhere in particular, or to something that is in the tree already: so links lead to links, and in circles. */
function linkTarget(base, paths, random) {
  const kind = random.below(4);
  if (kind === 0) return random.pick(linkTargets);
  if (kind === 1) return random.pick(plainNames);
  if (kind === 2) return join(base, random.pick(["outside", "root-evil/f", "root", "root/../home", "home/.galley"]));
  return random.pick(paths);
}

/**
 * Follows an absolute path without `..` through the nodes. Answers the canonical path and what is there: "file",
 * "directory" or "absent"; "astray" where a link leads nowhere or in circles, or a file stands on the way.
 */
export function follow(nodes, path) {
  const names = path.split("/").filter(Boolean);
  const steps = { links: 0 };
  let at = "/";
  for (const [index, name] of names.entries()) {
    if (nodes.get(at) !== "directory") return { path: at, kind: "astray" };
    const next = below(at, name);
    if (!nodes.has(next)) return { path: [next, ...names.slice(index + 1)].join("/"), kind: "absent" };
    const reached = chase(nodes, next, steps);
    if (reached === undefined) return { path: next, kind: "astray" };
    at = reached;
  }
  return { path: at, kind: nodes.get(at) };
}

/** Where a node leads if it is a link; `..` in a link is about the place, not about the words. */
function chase(nodes, path, steps) {
  const node = nodes.get(path);
  if (typeof node !== "object") return path;
  if (++steps.links > 40) return undefined;
  let at = node.link.startsWith("/") ? "/" : dirname(path);
  for (const name of node.link.split("/")) {
    if (name === "" || name === ".") continue;
    if (nodes.get(at) !== "directory") return undefined;
    if (name === "..") at = dirname(at);
    else {
      const next = below(at, name);
      const reached = nodes.has(next) ? chase(nodes, next, steps) : undefined;
      if (reached === undefined) return undefined;
      at = reached;
    }
  }
  return at;
}

function below(directory, name) {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}
