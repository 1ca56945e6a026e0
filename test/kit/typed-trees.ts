// Trees of files, links and directories on the real disk, plans that lead from one to another, and what is there.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../src/base/clock.js";
import type { FileType } from "../../src/base/file-type.js";
import { silentLog } from "../../src/base/log.js";
import { createNodeWorkspace } from "../../src/files/node-workspace.js";
import { createChangeWriter } from "../../src/journal/create-change-writer.js";
import type { ApplyOwner, ChangeWriter } from "../../src/plans/change-writer.js";
import { withoutSession } from "../../src/plans/change-writer.js";
import { type PlannedChange, stampOf, typeMember } from "../../src/plans/plan.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface Entry {
  readonly type: FileType;
  /** Of a link its target; none of a directory. */
  readonly text: string;
  readonly mode: number;
}

/** By path from the root on. Every directory that something is in is an entry too. */
export type Tree = Readonly<Record<string, Entry>>;

export const file = (text: string, mode = 0o644): Entry => ({ type: "file", text, mode });
export const link = (target: string): Entry => ({ type: "symlink", text: target, mode: 0o777 });
export const directory = (mode = 0o755): Entry => ({ type: "directory", text: "", mode });

/** With the directories that the entries need. */
export function treeOf(entries: Tree): Tree {
  const all: Record<string, Entry> = {};
  for (const [path, entry] of Object.entries(entries)) {
    for (let at = dirname(path); at !== "."; at = dirname(at)) all[at] ??= entries[at] ?? directory();
    all[path] = entry;
  }
  return all;
}

export interface TypedProject {
  readonly root: string;
  readonly writer: ChangeWriter;
  make(tree: Tree): void;
  look(): Tree;
  apply(changes: readonly PlannedChange[], more?: Partial<ApplyOwner>): Promise<string>;
}

export function typedProject(): TypedProject {
  const home = temporaryDirectory();
  for (const name of ["project", "agent"]) mkdirSync(join(home, name));
  const root = realpathSync(join(home, "project"));
  const agentDir = join(home, "agent");
  const writer = createChangeWriter({
    ...{ root, agentDir, clock: systemClock, log: silentLog },
    workspace: createNodeWorkspace({ cwd: root, home, agentDir, projectRoot: root }),
    retention: () => ({ keep: 50, maxBytes: 1 << 28 }),
    settleElsewhere: async () => true,
  });
  return {
    root,
    writer,
    make(tree) {
      const paths = Object.keys(tree).sort();
      for (const path of paths) makeEntry(join(root, path), tree[path] as Entry);
      for (const path of paths.reverse()) {
        const { type, mode } = tree[path] as Entry;
        if (type !== "symlink") chmodSync(join(root, path), mode);
      }
    },
    look: () => lookBelow(root),
    async apply(changes, more = {}) {
      const owner = { pendingId: "", label: "L", sourceToolName: "bash", by: "user", reason: "r", ...more } as const;
      return (await writer.apply(changes, owner, withoutSession)).changeId;
    },
  };
}

function makeEntry(path: string, { type, text }: Entry): void {
  if (type === "directory") mkdirSync(path);
  else if (type === "symlink") symlinkSync(text, path);
  else writeFileSync(path, text);
}

export function lookBelow(root: string): Tree {
  const found: Record<string, Entry> = {};
  // By hand, because Node's recursive listing follows links.
  const visit = (way: string) => {
    for (const name of readdirSync(join(root, way)).sort()) {
      const path = join(root, way, name);
      const stat = lstatSync(path);
      const mode = stat.mode & 0o7777;
      const at = join(way, name);
      if (stat.isDirectory()) {
        found[at] = directory(mode);
        visit(at);
      } else found[at] = stat.isSymbolicLink() ? link(readlinkSync(path)) : file(readFileSync(path, "latin1"), mode);
    }
  };
  visit("");
  return found;
}

/** One change for each path that differs. Like a command's plan: a plain directory is named only where it is empty or goes. */
export function planBetween(root: string, before: Tree, after: Tree): PlannedChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths.flatMap((path): PlannedChange[] => {
    const [old, fresh] = [before[path], after[path]];
    if (old && fresh && old.type === fresh.type && old.text === fresh.text && old.mode === fresh.mode) return [];
    const isImplied =
      fresh?.type === "directory" &&
      fresh.mode === 0o755 &&
      paths.some((other) => after[other] && other.startsWith(`${path}/`));
    if (!old && isImplied) return [];
    const stamp = stampOf(path, old && { bytes: Buffer.from(old.text), mode: old.mode, type: old.type });
    const common = { path: join(root, path), stamp, before: Buffer.from(old?.text ?? "") };
    if (!fresh) return [{ kind: "delete", ...common, after: Buffer.alloc(0), ...typeMember(old?.type) }];
    const mode = fresh.type === "symlink" ? {} : { mode: fresh.mode };
    return [
      {
        kind: old ? "modify" : "create",
        ...common,
        after: Buffer.from(fresh.text),
        ...mode,
        ...typeMember(fresh.type),
      },
    ];
  });
}
