// The whole screen of the review view: from 120 columns list and diff, below one at a time.

import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { writtenOut } from "../../base/written-out.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import type { DiffPane } from "./diff-pane.js";
import type { ListLook } from "./review-lines.js";
import { helpLines, lastLines, listLines, messageLines, tabsLine, titleLine } from "./review-lines.js";
import type { ReviewState } from "./review-model.js";
import { shortened } from "./review-rows.js";
import type { SeenLines } from "./seen-lines.js";

export interface Drawing extends ListLook {
  readonly pane: DiffPane;
  readonly seen: SeenLines | undefined;
  readonly tip?: string | undefined;
}

const wideColumns = 120;

/** Where the list and the diff were drawn, for a click. Rows are those of the screen. */
export interface DrawnPlaces {
  readonly top: number;
  readonly rows: number;
  /** 0: no list is shown. */
  readonly listColumns: number;
}

export function drawReview(
  given: ReviewState,
  drawing: Drawing,
): { lines: string[]; state: ReviewState; places: DrawnPlaces } {
  const { columns, rows, theme, now } = drawing;
  const before: ReviewState = { ...given, isWide: columns >= wideColumns };
  const last = lastLines(before, columns).map((line) => theme.fg("accent", line));
  const around = [...messageLines(before, { columns, theme }), tabsLine(before, { columns, theme }), ...last];
  const tip =
    drawing.tip === undefined ? [] : wrapTextWithAnsi(drawing.tip, Math.max(1, columns - 2)).map((line) => ` ${line}`);
  const height = Math.max(1, rows - 1 - tip.length - around.length);
  const { lines, state } = body(before, { ...drawing, rows: height });
  const filled = Array.from({ length: height }, (_, index) => lines[index] ?? "");
  const above = [titleLine(state, { columns, now, theme }), ...tip.map((line) => theme.fg("warning", line))];
  const places = { top: above.length, rows: height, listColumns: listColumns(state, columns) };
  return { lines: [...above, ...filled, ...around].slice(0, rows), state, places };
}

function body(state: ReviewState, drawing: Drawing): { lines: string[]; state: ReviewState } {
  const { columns, rows, theme, now } = drawing;
  if (state.mode.kind === "help")
    return { lines: inColumns(helpLines(state), { columns, rows, from: state.mode.from }), state };
  const list = (width: number) => listLines(state, { columns: width, rows, theme, now });
  if (!state.isWide) return state.pane === "list" ? { lines: list(columns), state } : diff(state, drawing, columns);
  const width = listColumns(state, columns);
  const right = diff(state, drawing, columns - width - 1);
  const left = list(width);
  const lines = Array.from({ length: rows }, (_, index) => {
    const text = cutTo(left[index] ?? "", width);
    const fill = " ".repeat(Math.max(0, width - visibleWidth(text)));
    return `${text}${fill}${theme.fg("border", "│")}${right.lines[index] ?? ""}`;
  });
  return { lines, state: right.state };
}

function listColumns({ isWide, pane }: ReviewState, columns: number): number {
  if (!isWide) return pane === "list" ? columns : 0;
  return Math.min(52, Math.max(36, Math.floor(columns * 0.3)));
}

function diff(state: ReviewState, drawing: Drawing, columns: number): { lines: string[]; state: ReviewState } {
  const { rows, theme, pane, seen, columns: window } = drawing;
  const { doc, gone, docProblem, actionKey } = state;
  if (!doc) {
    const text =
      gone?.text ??
      docProblem ??
      (state.tab === "pending" && (actionKey === undefined || state.actions.length === 0)
        ? "Nothing pending."
        : "Reading…");
    return { lines: ["", ...text.split("\n").map((line) => `  ${theme.fg("muted", writtenOut(line))}`)], state };
  }
  const head = paneHead(state, { columns, theme });
  const drawn = pane.draw(state, { columns, rows: Math.max(1, rows - 1), window }, seen);
  return { lines: [head, ...drawn.lines], state: drawn.state };
}

/** `src/cart.js   modify  +2 -2   hunk 1 of 2` */
function paneHead({ doc, unit }: ReviewState, { columns, theme }: { columns: number; theme: Theme }): string {
  const here = doc?.units[unit];
  const file = here && doc?.files[here.file];
  if (!doc || !here || !file) return "";
  const of = doc.units.filter((each) => each.file === here.file).length;
  const hunk = here.hunk === undefined ? "" : `   hunk ${here.hunk} of ${of}`;
  const facts = `   ${file.kind}  +${file.added} -${file.removed}${hunk}`;
  const name = shortened(writtenOut(file.shown), Math.max(8, columns - facts.length - 2));
  return cutTo(`  ${theme.bold(name)}${theme.fg("muted", facts)}`, columns);
}

/** Several columns where one would be too long. */
function inColumns(
  lines: readonly string[],
  { columns, rows, from }: { columns: number; rows: number; from: number },
): string[] {
  const count = Math.max(1, Math.min(Math.ceil(lines.length / rows), Math.floor(columns / 38)));
  const height = Math.ceil(lines.length / count);
  const width = Math.floor(columns / count);
  const first = Math.max(0, Math.min(from, height - rows));
  return Array.from({ length: Math.min(rows, height) }, (_, row) =>
    Array.from({ length: count }, (_each, column) => {
      const text = cutTo(lines[column * height + first + row] ?? "", width - 1);
      return text + " ".repeat(Math.max(0, width - visibleWidth(text)));
    }).join(""),
  );
}
