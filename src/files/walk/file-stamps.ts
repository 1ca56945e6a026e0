// What the files below a directory look like from outside, to find out later which of them changed. Reads no content.

import { inLanes } from "../../base/in-lanes.js";
import { nodeDisk } from "../disk/node-disk.js";
import { shownBelow } from "../paths/resolve-path.js";
import { walkFiles } from "./walk.js";

/** By absolute path. */
export type FileStamps = ReadonlyMap<string, string>;

/** How many are looked at together. */
const width = 32;

/**
 * The files that a walk finds: not what `.gitignore` names, nothing in `.git` or `node_modules`, no links. Undefined if
 * there are more than `maxFiles`.
 */
export async function stampFiles(root: string, maxFiles: number): Promise<FileStamps | undefined> {
  const path = await nodeDisk.realpath(root);
  const { identity } = await nodeDisk.lstat(path);
  const target = { path, displayPath: shownBelow(path, ""), kind: "directory" as const, identity };
  const stamps = new Map<string, string>();
  for await (const files of walkFiles(await nodeDisk.inBulk({ path, identity }), { root: target, cwd: path })) {
    if (stamps.size + files.length > maxFiles) return undefined;
    await inLanes(files, width, async (file) => {
      const stat = await nodeDisk.lstat(file.path).catch(() => undefined); // it may have vanished since
      if (stat) stamps.set(file.path, `${stat.identity} ${stat.mark} ${stat.mode}`);
    });
  }
  return stamps;
}
