// What `pi.pushPendingAction` uses: the session's pending actions, and the workspace that reads its files.

import { resolve } from "node:path";
import { GalleyError } from "../../base/errors.js";
import type { FileChange, ToolPendingActions } from "../../extensions/api/tool-api-pending.js";
import type { Target, Workspace, WriteTarget } from "../../files/workspace.js";
import type { ChangeWriter } from "../../plans/change-writer.js";
import { type PlannedChange, type SeenFile, stampOf } from "../../plans/plan.js";
import type { NewAction } from "../../plans/stored-action.js";

/** What the file tools change at most. */
const maxPlannedBytes = 256 * 1024 * 1024;

export interface ExtensionPendingDeps {
  readonly workspace: Workspace;
  readonly changes: Pick<ChangeWriter, "stamp" | "staleFiles">;
  push(action: NewAction): string;
  nextId(): string;
}

export function createExtensionPending({ workspace, changes, push, nextId }: ExtensionPendingDeps): ToolPendingActions {
  return {
    push,
    nextId,
    stamp: (paths) => Promise.all(paths.map((path) => seen(path, { workspace, changes }))),
    async plan(changes) {
      const planned: PlannedChange[] = [];
      for (const change of changes) planned.push(await planOne(change, workspace));
      const twice = planned.find(({ path }, index) => planned.findIndex((other) => other.path === path) !== index);
      if (twice) throw new GalleyError("invalid_argument", `The plan names ${twice.stamp.path} twice.`);
      return planned;
    },
  };
}

async function seen(
  path: string,
  { workspace, changes }: Pick<ExtensionPendingDeps, "workspace" | "changes">,
): Promise<SeenFile> {
  const target = await readable(workspace, path);
  const stamp = target && (await changes.stamp(target.path));
  if (stamp) return { path: target.path, stamp: { path, exists: true, ...stamp } };
  const absent = { path: resolve(workspace.cwd, path), stamp: stampOf(path, undefined) };
  // A directory, or a dangling link: whether it has changed could not be checked later.
  if ((await changes.staleFiles([absent])).length > 0)
    throw new GalleyError("invalid_argument", `The pending action depends on ${path}, which is not a file.`);
  return absent;
}

async function planOne({ path: wanted, after, mode }: FileChange, workspace: Workspace): Promise<PlannedChange> {
  if (typeof after !== "string" && !(after instanceof Uint8Array) && after !== null)
    throw new GalleyError("invalid_argument", `The plan's "after" of ${wanted} must be text, bytes or null.`);
  if (typeof after === "string" && /\p{Surrogate}/u.test(after)) {
    const problem = "holds half of a surrogate pair, which cannot be written as UTF-8";
    throw new GalleyError("invalid_argument", `The plan's "after" of ${wanted} ${problem}.`);
  }
  const { path, displayPath } = await workspace.resolve(wanted, "write");
  const found = await look(workspace, { path, displayPath });
  const before = found?.bytes ?? new Uint8Array();
  const stamp = stampOf(displayPath, found);
  if (after !== null) {
    const bytes = typeof after === "string" ? Buffer.from(after) : Uint8Array.from(after);
    const bits = mode === undefined ? {} : { mode };
    return { kind: found ? "modify" : "create", path, stamp, before, after: bytes, ...bits };
  }
  if (!found) throw new GalleyError("not_found", `The plan deletes ${displayPath}, which does not exist.`);
  return { kind: "delete", path, stamp, before, after: new Uint8Array() };
}

async function look(
  workspace: Workspace,
  { path, displayPath }: Pick<WriteTarget, "path" | "displayPath">,
): Promise<{ bytes: Uint8Array; mode: number } | undefined> {
  const target = await readable(workspace, path);
  if (!target) return undefined;
  const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: maxPlannedBytes });
  if (isTruncated)
    throw new GalleyError("invalid_argument", `The plan changes ${displayPath}, which is larger than 256 MiB.`);
  return { bytes, mode: (await workspace.stat(target)).mode };
}

/** Undefined where there is no file. */
async function readable(workspace: Workspace, path: string): Promise<Target | undefined> {
  try {
    const target = await workspace.resolve(path, "read");
    return target.kind === "file" ? target : undefined;
  } catch (error) {
    if (GalleyError.is(error, "not_found")) return undefined;
    throw error;
  }
}
