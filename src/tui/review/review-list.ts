// The list of actions with their files, or of changes: its rows, what is selected, and moving there.

import type { Pressed, ReviewState } from "./review-model.js";

/** The cursor is on this hunk, in both panes. */
export function atUnit(state: ReviewState, unit: number): ReviewState {
  const file = state.doc?.units[unit]?.file;
  return { ...state, unit, listFile: state.listFile === undefined ? undefined : file };
}

/** A row of the list: an action, or a file of the selected one. */
export interface ListRow {
  readonly key: string;
  readonly file?: number;
}

export function listRows(state: ReviewState): ListRow[] {
  if (state.tab === "changes") return state.changes.map(({ id }) => ({ key: id }));
  return state.actions.flatMap(({ key, files }) => [
    { key },
    ...(key === state.actionKey && state.gone?.key !== key ? files.map((_, file) => ({ key, file })) : []),
  ]);
}

export function selectedRow(state: ReviewState): number {
  const rows = listRows(state);
  const key = state.tab === "changes" ? state.changeId : state.actionKey;
  return rows.findIndex((row) => row.key === key && (state.tab === "changes" || row.file === state.listFile));
}

/** The first row that is shown where so many have room: the selected one is among them. */
export function firstShown(state: ReviewState, { selected, room }: { selected: number; room: number }): number {
  return Math.max(0, Math.min(selected - Math.floor(room / 2), listRows(state).length - room));
}

const listPage = 10;

export function moveInList(state: ReviewState, by: "line" | "page" | "end", direction: -1 | 1): Pressed {
  const rows = listRows(state);
  const at = selectedRow(state);
  const step = by === "line" ? 1 : by === "page" ? listPage : rows.length;
  return selectRow(state, rows[Math.min(rows.length - 1, Math.max(0, at + direction * step))]);
}

export function selectRow(state: ReviewState, next: ListRow | undefined): Pressed {
  if (!next) return { state };
  if (state.tab === "changes") return { state: { ...state, changeId: next.key }, wish: { kind: "load" } };
  if (next.key !== state.actionKey) return { state: selectAction(state, next.key), wish: { kind: "load" } };
  const unit = next.file === undefined ? 0 : (state.doc?.units.findIndex(({ file }) => file === next.file) ?? 0);
  return { state: { ...state, listFile: next.file, unit: Math.max(0, unit) }, wish: { kind: "show" } };
}

/** Leaves the row of an action that has gone. */
export function selectAction(state: ReviewState, key: string): ReviewState {
  const actions = state.gone ? state.actions.filter((action) => action.key !== state.gone?.key) : state.actions;
  return {
    ...state,
    actions,
    gone: undefined,
    actionKey: key,
    listFile: undefined,
    unit: 0,
    marks: new Set(),
    doc: undefined,
  };
}
