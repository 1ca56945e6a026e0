// What git writes in its own directory and what decides about no program: objects, refs, the index, logs. A command's
// plan may write it. The rest of `.git` decides what runs next, or where things come from, and stays protected.

const dataDirectories = new Set(["objects", "refs", "logs", "rr-cache", "lost-found"]);
const dataFiles =
  /^(?:HEAD|[A-Z]+(?:_[A-Z]+)*_(?:HEAD|MSG|MODE|RR|EDITMSG)|AUTO_MERGE|index|packed-refs|shallow|description|gc\.(?:log|pid))(?:\.lock)?$/;
/** Where git looks for more objects: elsewhere on the disk, or on a server. */
const pointers = /^objects\/info\/(?:http-)?alternates$/;
/** For servers without git; rewritten whenever objects are packed. */
const serverInfo = "info/refs";

/** By the text of an absolute path. Only the plain spelling counts: any other one stays protected. */
export function isGitData(path: string): boolean {
  const names = path.split("/");
  const at = names.indexOf(".git");
  if (at === -1) return false;
  const below = names.slice(at + 1);
  if (below.some((name) => name === "" || name.startsWith(".git"))) return false;
  // A worktree has a directory of its own, with the same things in it.
  return isData(below[0] === "worktrees" ? below.slice(2) : below);
}

function isData(below: readonly string[]): boolean {
  const [first = "", ...rest] = below;
  const way = below.join("/");
  if (pointers.test(way)) return false;
  if (way === serverInfo) return true;
  return dataDirectories.has(first) || (rest.length === 0 && dataFiles.test(first));
}

export function isInGit(path: string): boolean {
  return path.split("/").includes(".git");
}
