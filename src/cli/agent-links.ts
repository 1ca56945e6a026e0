// Links by which galley is started in the place of another agent. Only such a link is ever made, replaced or removed.

import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { delimiter, join, sep } from "node:path";

export const linkNames = ["pi", "omp"] as const;
export type LinkName = (typeof linkNames)[number];

/** The file that a link leads to. */
export function ownProgram(): string {
  return realpathSync(process.argv[1] ?? "");
}

export function whatIsAt(path: string): "nothing" | "ours" | "other" {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return "nothing";
  // One of another installation, or of one that is gone, is ours too.
  return status.isSymbolicLink() && readlinkSync(path).endsWith(`${sep}bin${sep}galley.js`) ? "ours" : "other";
}

/** The first of this name on PATH. */
export function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find((path) => whatIsAt(path) !== "nothing");
}
