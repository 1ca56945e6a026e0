// What a click in the review view means: the row of the list that it hit, or the hunk. It moves the cursor and decides nothing.

import type { DiffPane } from "./diff-pane.js";
import type { DrawnPlaces } from "./draw-review.js";
import { shownRow } from "./review-lines.js";
import { atUnit, firstShown, listRows, selectRow } from "./review-list.js";
import type { Pressed, ReviewState } from "./review-model.js";

interface Click {
  readonly column: number;
  readonly row: number;
  readonly places: DrawnPlaces;
  readonly pane: DiffPane;
}

export function click(state: ReviewState, { column, row, places, pane }: Click): Pressed {
  const line = row - places.top;
  if (state.mode.kind !== "normal" || line < 0 || line >= places.rows) return { state };
  if (column < places.listColumns) {
    const first = firstShown(state, { selected: shownRow(state), room: places.rows });
    return selectRow({ ...state, pane: "list" }, listRows(state)[first + line]);
  }
  const unit = pane.unitAt(line - 1); // below the line that names the file
  return { state: unit === undefined ? state : { ...atUnit(state, unit), pane: "diff" } };
}
