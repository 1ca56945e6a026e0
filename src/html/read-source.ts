// A session file as something to export. It is only read, neither locked nor repaired, even while it is being written.

import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { EntryTree } from "../record/entry-tree.js";
import { loadSession } from "../record/store/load-session.js";
import { type PlaceOptions, SessionDirectories } from "../record/store/session-directories.js";
import type { ExportSource } from "./export-html.js";

export interface ReadSource extends ExportSource {
  /** What was found wrong with the file, as sentences for the user. */
  readonly warnings: readonly string[];
}

/** Throws `not_found` for a missing file and `file_refused` for a file that is no session. */
export async function readSource(path: string, places: PlaceOptions & { clock?: Clock }): Promise<ReadSource> {
  const loaded = await loadSession(path, { clock: places.clock ?? systemClock, isReadOnly: true });
  if (loaded.kind === "absent")
    throw loaded.exists
      ? new GalleyError("file_refused", `Not a session file: ${path}`)
      : new GalleyError("not_found", `File not found: ${path}`);
  const { header, entries } = loaded.session;
  const blobs = new SessionDirectories(places, silentLog).blobs(loaded.path);
  return { header, tree: new EntryTree(header, entries), blobs, warnings: loaded.warnings };
}
