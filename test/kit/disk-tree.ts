// What is in a directory of the disk, one line for each path: to compare trees, and to see that nothing has moved.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export interface DiskTreeOptions {
  /** And inodes: two trees are never equal then, and one is only as long as nothing touches it. */
  readonly withTimes?: boolean;
  /** Names below the root that are not compared. */
  readonly except?: (name: string) => boolean;
}

/** Bytes, types, permissions and targets of everything below, and times and inodes if wanted. */
export function diskTree(root: string, { withTimes = false, except = () => false }: DiskTreeOptions = {}): string[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  return names
    .filter((name) => !except(name))
    .map((name) => {
      const path = join(root, name);
      const stat = lstatSync(path, { bigint: true });
      const content = stat.isSymbolicLink()
        ? `-> ${readlinkSync(path)}`
        : stat.isFile()
          ? createHash("sha256").update(readFileSync(path)).digest("hex")
          : "directory";
      const times = withTimes ? ` ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}` : "";
      return `${name} ${(stat.mode & 0o7777n).toString(8)} ${content}${times}`;
    });
}
