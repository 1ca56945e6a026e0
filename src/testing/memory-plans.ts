// Plans on the in-memory workspace: the same answers as the journal's, without a disk to crash.

import { createHash } from "node:crypto";
import { GalleyError } from "../base/errors.js";
import type { PlanHands, PlanSession } from "../sdk/index.js";
import type { UndoRecord } from "../workspace/changes.js";
import type { MemoryWorkspace } from "./memory-workspace.js";

export function createMemoryPlans(workspace: MemoryWorkspace): PlanHands {
  const records: UndoRecord[] = [];
  let own: PlanSession | undefined;
  const find = async (path: string) => {
    const target = await workspace.resolve(path, "read").catch(() => undefined); // not there
    if (!target) return undefined;
    const [{ bytes }, { mode }] = [await workspace.readFile(target), await workspace.stat(target)];
    return { bytes, mode, size: bytes.length, hash: createHash("sha256").update(bytes).digest("hex") };
  };
  const hashAt = async (path: string) => (await find(path))?.hash ?? "";
  const hands: PlanHands = {
    attach(session) {
      own = session;
    },
    async look(path, left) {
      const found = await find(path);
      return found && { ...found, isAsLeft: found.hash === left };
    },
    async stamp(path) {
      const found = await find(path);
      return found && { size: found.size, sha256: found.hash, mode: found.mode };
    },
    recover: async () => [],
    async note(change) {
      const txid = (records.length + 1).toString(16).padStart(8, "0").padEnd(32, "0");
      const owner = { session: own?.owner() ?? "", pendingId: "" };
      const record: UndoRecord = { type: "change", version: 1, txid, at: records.length, ...change, owner };
      records.push(record);
      return async () => void records.splice(records.indexOf(record), 1);
    },
    history: async () => records.toReversed(),
    async staleFiles(changes) {
      const stale: string[] = [];
      for (const { path, stamp } of changes) if ((await hashAt(path)) !== stamp.sha256) stale.push(stamp.path);
      return stale;
    },
    async apply(changes, { pendingId, alsoApplied = [], isPart, undoes, holdsFiles: _, ...what }) {
      const stale = await hands.staleFiles(changes);
      if (stale.length > 0)
        throw new GalleyError("stale_preview", "stale", { details: { files: stale, total: changes.length } });
      const txid = (records.length + 1).toString(16).padStart(8, "0").padEnd(32, "0");
      const files: UndoRecord["files"] = changes.map(({ kind, path, stamp, before, after }) => ({
        kind: kind === "rename" ? "modify" : kind,
        path,
        shownPath: stamp.path,
        before: stamp.exists ? { bytes: before, mode: stamp.mode, mtimeMs: 0 } : null,
        afterHash: kind === "delete" ? null : createHash("sha256").update(after).digest("hex"),
      }));
      for (const { kind, path, after } of changes) {
        if (kind === "delete") workspace.remove(path);
        else await workspace.writeFile(await workspace.resolve(path, "write"), { bytes: after });
      }
      const owner = { session: own?.owner() ?? "", pendingId };
      records.push({
        type: "change",
        version: 1,
        txid,
        at: records.length,
        ...what,
        owner,
        ...(undoes ? { undoes } : {}),
        files,
      });
      if (pendingId) await own?.recordApplied({ pendingId, alsoApplied, ...(isPart ? { isPart } : {}) }, what);
      return { changeId: `ch_${txid.slice(0, 8)}` };
    },
  };
  return hands;
}
