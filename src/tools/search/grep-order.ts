// When a sorted search may stop. ripgrep sorts the names of each directory, and so reports `a/x` before `a-b`; results are
// in the order of whole paths, where `a-b` comes first. So the first matches that ripgrep reports are not final before it
// has passed the few names that would still come before them.

import { join } from "node:path";
import { allNamesIn } from "../../files/paths/find-roots.js";

/** For one directory. Answers whether nothing that is reported after `seen` can come before `last`, both below it. */
export function createOrderTest(directory: string): (last: string, seen: string) => boolean {
  let known: { last: string; barrier: string | undefined } | undefined;
  return (last, seen) => {
    if (known?.last !== last) known = { last, barrier: barrierOf(directory, last) };
    const { barrier } = known;
    return barrier === undefined || (isLater(seen, barrier) && !seen.startsWith(`${barrier}/`));
  };
}

/** What ripgrep reports last of all that it reports later and that comes earlier: a file or a directory. */
function barrierOf(directory: string, path: string): string | undefined {
  const names = path.split("/");
  for (const [depth, name] of names.entries()) {
    const above = names.slice(0, depth);
    const end = depth === names.length - 1 ? name : `${name}/`;
    const misplaced = allNamesIn(join(directory, ...above)).filter((other) => other < end && isLater(other, name));
    const [first, ...rest] = misplaced;
    // Those further up are reported after all those further down.
    if (first !== undefined)
      return [...above, rest.reduce((latest, other) => (isLater(other, latest) ? other : latest), first)].join("/");
  }
  return undefined;
}

/** In ripgrep's order: by the bytes of each name. */
function isLater(path: string, other: string): boolean {
  const [bytes, otherBytes] = [path, other].map((each) => Buffer.from(each.replaceAll("/", "\0")));
  return Buffer.compare(bytes as Buffer, otherBytes as Buffer) > 0;
}
