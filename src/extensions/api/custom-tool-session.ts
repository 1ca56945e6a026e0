// The read-only view of a session's record that tools get: the methods that published tools call, on top of whatever
// record is current.

import { dirname } from "node:path";
import type { SessionRecord } from "../../record/record.js";
import { artifactDirectory } from "../../record/session-paths.js";
import { sessionStats } from "../../record/session-stats.js";
import type { ReadonlySession } from "./custom-tool-context.js";

export type ViewedRecord = Pick<
  SessionRecord,
  "cwd" | "sessionId" | "sessionFile" | "header" | "tree" | "context" | "artifacts"
>;

export function readonlySession(record: () => ViewedRecord): ReadonlySession {
  const fileOf = () => record().sessionFile;
  return {
    getCwd: () => record().cwd,
    getSessionDir: () => {
      const file = fileOf();
      return file === undefined ? undefined : dirname(file);
    },
    getSessionId: () => record().sessionId,
    getSessionFile: fileOf,
    getSessionName: () => record().tree.name,
    getEntries: () => [...record().tree.entries],
    getBranch: (entryId) => record().tree.pathTo(entryId),
    getEntry: (id) => record().tree.get(id),
    getLeafId: () => record().tree.leafId,
    getLeafEntry: () => {
      const { tree } = record();
      return tree.leafId === null ? undefined : tree.get(tree.leafId);
    },
    getLabel: (entryId) => record().tree.labels.get(entryId),
    getHeader: () => ({ ...record().header }),
    getTree: () => record().tree.tree(),
    getArtifactsDir: () => {
      const file = fileOf();
      return file === undefined ? undefined : artifactDirectory(file);
    },
    saveArtifact: (text, toolName = "custom_tool") => record().artifacts.save(toolName, text),
    getUsageStatistics() {
      const { sessionId, sessionFile, tree, context } = record();
      return sessionStats({ sessionId, sessionFile, entries: tree.entries, messages: context.messages });
    },
  };
}
