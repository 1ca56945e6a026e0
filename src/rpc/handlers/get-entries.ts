// `get_entries` and `get_tree`: the record itself, for a host that keeps a copy of it. Ids outlive the process, so a
// host that reconnects names the last entry it has and gets exactly those that it missed.

import { GalleyError } from "../../base/errors.js";
import type { Handler } from "../handler.js";

/** Of an unknown id, in the sentence that refuses it. */
const maxShownLength = 512;

export const getEntries: Handler<"get_entries"> = async ({ session }, { since }) => {
  const { tree } = session.sessionManager;
  if (since !== undefined && !tree.has(since))
    throw new GalleyError("unknown_since", `Unknown entries cursor: ${since.slice(0, maxShownLength)}`);
  const { leafId } = tree;
  const entries = since === undefined ? tree.entries : tree.entriesSince(since);
  return { entries: await session.entriesWithImages(entries), leafId };
};

export const getTree: Handler<"get_tree"> = ({ session }) => {
  const { tree } = session.sessionManager;
  return { tree: tree.tree(), leafId: tree.leafId };
};
