// A staged change as hosts see it: what would be written, on which files it depends, and how it ended. Callbacks and
// file contents never leave the process.

import Type, { type Static } from "typebox";

/** What is at a path. */
export const FileType = Type.Union([Type.Literal("file"), Type.Literal("symlink"), Type.Literal("directory")]);
export type FileType = Static<typeof FileType>;

/** A file as it was when the preview was made; any difference later makes the preview stale. */
export const FileStamp = Type.Object({
  path: Type.String(),
  exists: Type.Boolean(),
  size: Type.Integer({ minimum: 0 }),
  sha256: Type.String(),
  mode: Type.Integer(),
  /** Absent for a regular file. */
  type: Type.Optional(FileType),
});
export type FileStamp = Static<typeof FileStamp>;

export const FileChangeKind = Type.Union([
  Type.Literal("modify"),
  Type.Literal("create"),
  Type.Literal("delete"),
  Type.Literal("rename"),
]);
export type FileChangeKind = Static<typeof FileChangeKind>;

export const Decider = Type.Union([
  Type.Literal("model"),
  Type.Literal("user"),
  Type.Literal("host"),
  Type.Literal("runtime"),
]);
export type Decider = Static<typeof Decider>;

export const PendingStatus = Type.Union([Type.Literal("pending"), Type.Literal("applying"), Type.Literal("stale")]);
export type PendingStatus = Static<typeof PendingStatus>;

const actionFields = {
  id: Type.String(),
  label: Type.String(),
  sourceToolName: Type.String(),
  toolCallId: Type.Optional(Type.String()),
  details: Type.Optional(Type.Unknown()),
  /** A plan holds the bytes to write and survives a restart; a closure does neither. */
  kind: Type.Union([Type.Literal("plan"), Type.Literal("closure")]),
  preview: Type.Optional(Type.Object({ text: Type.Optional(Type.String()), diff: Type.Optional(Type.String()) })),
  createdAt: Type.Number(),
  expiresAt: Type.Optional(Type.Number()),
  entryId: Type.Optional(Type.String()),
  status: PendingStatus,
  /** From 1; one more with every change of what is pending: a part decided, a hunk edited, a new preview, a rebase. */
  revision: Type.Integer({ minimum: 1 }),
  attempts: Type.Integer({ minimum: 0 }),
  lastError: Type.Optional(Type.String()),
  dependsOn: Type.Optional(Type.Array(Type.String())),
};

export const PendingAction = Type.Object({ ...actionFields, files: Type.Optional(Type.Array(FileStamp)) });
export type PendingAction = Static<typeof PendingAction>;

/** What `get_pending_actions` adds to a stamp; only the files of a plan carry it. */
const PlannedFile = Type.Object({
  ...FileStamp.properties,
  kind: Type.Optional(FileChangeKind),
  /** What the file becomes, where that is not what the stamp says: a link, a directory, or a regular file in its place. */
  newType: Type.Optional(FileType),
  /** Permission bits that it gets, where they change. */
  newMode: Type.Optional(Type.Integer()),
  /** Where the link leads then. */
  target: Type.Optional(Type.String()),
  /** Only the user's own word writes it. */
  protected: Type.Optional(Type.Literal(true)),
  /** A file that goes in the same action and has the same bytes. */
  renamedFrom: Type.Optional(Type.String()),
  /** It is one of those that `git` sums up: it has no figures and no diff. */
  isGitData: Type.Optional(Type.Literal(true)),
  to: Type.Optional(Type.String()),
  added: Type.Optional(Type.Integer({ minimum: 0 })),
  removed: Type.Optional(Type.Integer({ minimum: 0 })),
  hunks: Type.Optional(Type.Integer({ minimum: 0 })),
  diff: Type.Optional(Type.String()),
  /** It is not as it was when the preview was made. */
  stale: Type.Optional(Type.Literal(true)),
  /** The new text is no longer only what the tool proposed. */
  editedBy: Type.Optional(Decider),
});

/** An action below another one, and the files for which the upper one was made on top of it. */
export const ActionBelow = Type.Object({ id: Type.String(), files: Type.Array(Type.String()) });
export type ActionBelow = Static<typeof ActionBelow>;

export const PendingActionView = Type.Object({
  ...actionFields,
  files: Type.Optional(Type.Array(PlannedFile)),
  /** The diffs were cut at their limit. */
  diffTruncated: Type.Optional(Type.Literal(true)),
  /** What would have to be applied with it. */
  restsOn: Type.Optional(Type.Array(ActionBelow)),
  /** What a command did to git's own data: `main 1a2b3c4 → 5d6e7f8, 14 objects, index`. */
  git: Type.Optional(Type.String()),
});
export type PendingActionView = Static<typeof PendingActionView>;

export const PendingOutcome = Type.Union([
  Type.Literal("applied"),
  Type.Literal("discarded"),
  Type.Literal("failed"),
  Type.Literal("stale"),
  Type.Literal("expired"),
  Type.Literal("orphaned"),
]);
export type PendingOutcome = Static<typeof PendingOutcome>;

/** An applied change set, undone or not. */
export const Change = Type.Object({
  id: Type.String(),
  pendingId: Type.Optional(Type.String()),
  label: Type.String(),
  sourceToolName: Type.String(),
  by: Decider,
  reason: Type.String(),
  at: Type.Number(),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      kind: FileChangeKind,
      /** What the change left, of a delete what was there; absent for a regular file. */
      type: Type.Optional(FileType),
      /** It is one of those that `git` sums up: it has no figures and no diff. */
      isGitData: Type.Optional(Type.Literal(true)),
      /** Absent, like the diff, if another program has written the file since: its content after the change is lost. */
      added: Type.Optional(Type.Integer({ minimum: 0 })),
      removed: Type.Optional(Type.Integer({ minimum: 0 })),
      diff: Type.Optional(Type.String()),
    }),
  ),
  state: Type.Union([Type.Literal("applied"), Type.Literal("undone")]),
  undoable: Type.Boolean(),
  /** What a command did to git's own data, as in a pending action. */
  git: Type.Optional(Type.String()),
});
export type Change = Static<typeof Change>;
