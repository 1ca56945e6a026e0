// What a compaction made, in its entry and in its event. In a file of its own, because every export of those two is a
// published shape.

import Type from "typebox";

export const compactionFields = {
  summary: Type.String(),
  shortSummary: Type.Optional(Type.String()),
  firstKeptEntryId: Type.String(),
  tokensBefore: Type.Number(),
  details: Type.Optional(Type.Unknown()),
  preserveData: Type.Optional(Type.Unknown()),
  /** An extension wrote the summary. */
  fromExtension: Type.Optional(Type.Boolean()),
};
