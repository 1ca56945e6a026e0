// What stands around the panes of the review view: its title, the list, the tabs, and the last line, which names exactly what
// each key would decide.

import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { ageText } from "../../base/age-text.js";
import { oneLine } from "../../base/sanitize.js";
import { writtenOut } from "../../base/written-out.js";
import { stateSigns } from "../../render/look.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { keyOf, type ReviewAct, reviewKeys } from "./review-keys.js";
import { firstShown, listRows, selectedRow } from "./review-list.js";
import type { ReviewState } from "./review-model.js";
import { shortened } from "./review-rows.js";
import { scopeOf, selectedAction } from "./review-scope.js";
import { discardedReason, staleText } from "./review-state.js";

export function titleLine(
  state: ReviewState,
  { columns, now, theme }: { columns: number; now: number; theme: Theme },
): string {
  const action = selectedAction(state);
  const change = state.tab === "changes" ? state.changes.find(({ id }) => id === state.changeId) : undefined;
  const shown = change ?? (state.tab === "pending" ? action : undefined);
  const age = shown ? ageText(now - ("at" in shown ? shown.at : shown.createdAt)) : "";
  const count = state.actions.length - (state.gone ? 1 : 0);
  const about = shown ? ` · ${"key" in shown ? shown.key : shown.id} ${oneLine(writtenOut(shown.label), 200)}` : "";
  const prompt =
    action && shown === action && action.prompt !== "" ? ` · "${oneLine(writtenOut(action.prompt), 60)}"` : "";
  const head = ` ${theme.bold(theme.fg("accent", "Review"))} · ${count} pending`;
  const room = columns - (age === "" ? 0 : age.length + 2);
  const text = cutTo(`${head}${about}${prompt}`, Math.max(10, room));
  return `${text}${" ".repeat(Math.max(1, columns - visibleWidth(text) - age.length - 1))}${theme.fg("muted", age)}`;
}

export interface ListLook {
  readonly columns: number;
  readonly rows: number;
  readonly theme: Theme;
  readonly now: number;
}

/** The rows of the list around the selected one. */
export function listLines(state: ReviewState, look: ListLook): string[] {
  const rows = listRows(state);
  const selected = shownRow(state);
  if (rows.length === 0)
    return [look.theme.fg("muted", state.tab === "pending" ? " Nothing pending." : " No change is kept here.")];
  const first = firstShown(state, { selected, room: look.rows });
  return rows.slice(first, first + look.rows).map((row, index) => {
    const text =
      state.tab === "changes"
        ? changeRow(state, row.key, look)
        : row.file === undefined
          ? actionRow(state, row.key, look)
          : fileRow(state, row.file, look);
    const isSelected = first + index === selected;
    const mark = isSelected ? look.theme.fg("accent", state.pane === "list" ? "▌" : "▏") : " ";
    return `${mark}${isSelected && state.pane === "list" ? look.theme.bold(text) : text}`;
  });
}

/** While the diff has the keyboard, the list shows which file it is at. */
export function shownRow(state: ReviewState): number {
  const file = state.doc?.units[state.unit]?.file;
  if (state.pane === "list" || state.tab !== "pending" || file === undefined) return selectedRow(state);
  return selectedRow({ ...state, listFile: file });
}

function actionRow(state: ReviewState, key: string, { columns, theme }: ListLook): string {
  const action = state.actions.find((each) => each.key === key);
  if (!action) return "";
  const isGone = state.gone?.key === key;
  const isBusy = state.busy?.key === key ? state.busy.word : undefined;
  const status =
    isBusy ??
    (isGone
      ? "gone"
      : action.status === "pending"
        ? ""
        : action.status === "applying"
          ? "applying…"
          : `${stateSigns.stale} stale`);
  const depth = action.restsOn.length > 0 ? "  " : "";
  const name = `${depth}${key === state.actionKey && !isGone ? "▾" : "▸"} ${key} ${oneLine(writtenOut(action.label), 200)}`;
  const room = Math.max(4, columns - 2 - (status === "" ? 0 : visibleWidth(status) + 1));
  const text = cutTo(name, room);
  const end = status === "" ? "" : theme.fg(action.status === "stale" ? "warning" : "muted", status);
  return spread(isGone ? theme.fg("muted", text) : text, end, columns - 1);
}

function fileRow(state: ReviewState, index: number, { columns, theme }: ListLook): string {
  const action = selectedAction(state);
  const file = action?.files[index];
  if (!file) return "";
  const units = state.doc?.units.filter((unit) => unit.file === index) ?? [];
  const marked = units.filter((unit) => state.marks.has(unit.index)).length;
  const kind = file.kind === "modify" ? `${file.hunks} h` : { create: "new", delete: "del", rename: "ren" }[file.kind];
  const facts = `+${file.added} -${file.removed}  ${file.isStale ? stateSigns.stale : ""}${kind}`;
  const name = shortened(writtenOut(file.shown), Math.max(6, columns - 7 - facts.length));
  const sign = marked > 0 ? theme.fg("accent", "●") : " ";
  return spread(`  ${sign} ${name}`, theme.fg("muted", facts), columns - 1);
}

function changeRow(state: ReviewState, id: string, { columns, theme, now }: ListLook): string {
  const change = state.changes.find((each) => each.id === id);
  if (!change) return "";
  const files = change.files.length === 1 ? writtenOut(change.files[0]?.path ?? "") : `${change.files.length} files`;
  const undone = change.state === "undone" ? theme.fg("muted", `undone ${stateSigns.undone}`) : "";
  const text = `${change.id}  ${ageText(now - change.at)}  ${oneLine(writtenOut(change.label), 200)}`;
  const end = `${theme.fg("muted", `${change.by}  ${shortened(files, 20)}`)}${undone === "" ? "" : `  ${undone}`}`;
  return spread(cutTo(text, Math.max(12, columns - visibleWidth(end) - 3)), end, columns - 1);
}

function spread(left: string, right: string, columns: number): string {
  if (right === "") return left;
  return `${left}${" ".repeat(Math.max(1, columns - visibleWidth(left) - visibleWidth(right)))}${right}`;
}

/** With the two keys that lead on from everywhere at its end. */
export function tabsLine(state: ReviewState, { columns, theme }: { columns: number; theme: Theme }): string {
  const tab = (key: string, name: string, isOpen: boolean) =>
    isOpen ? theme.bold(`[${key} ${name}]`) : theme.fg("muted", ` ${key} ${name} `);
  const pending = state.actions.length - (state.gone ? 1 : 0);
  const marks = state.marks.size > 0 ? `  ${theme.fg("accent", `● ${state.marks.size} marked`)}` : "";
  const [one, two] = [keyOf(state.keys, "review.pendingTab"), keyOf(state.keys, "review.changesTab")];
  const text = ` ${tab(one, `Pending ${pending}`, state.tab === "pending")} ${tab(two, `Changes ${state.changes.length}`, state.tab === "changes")}${marks}`;
  const [help, close] = [keyOf(state.keys, "review.help"), keyOf(state.keys, "review.close")];
  const room = columns - visibleWidth(text) - 2;
  const end = [`${help} keys   ${close} close`, `${help} ${close}`].find((each) => each.length <= room) ?? "";
  return spread(text, theme.fg("muted", end), columns - 1);
}

/** As many rows as it takes: what can be decided is never left out. */
export function lastLines(state: ReviewState, columns: number): string[] {
  const { mode } = state;
  if (mode.kind === "normal" || mode.kind === "help") return joined(pieces(state), columns);
  return wrapTextWithAnsi(modeText(state), Math.max(10, columns - 2)).map((line) => ` ${line}`);
}

function modeText({ mode }: ReviewState): string {
  switch (mode.kind) {
    case "again":
      return mode.text;
    case "reason":
      return `Discard ${mode.scope.words}. Reason: ${writtenOut(mode.text)}▏  enter sends (empty: ${discardedReason}) · esc takes it back`;
    case "rest":
      return `Apply ${mode.scope.words}. The rest:  k stays pending   d discard it   esc back`;
    case "find":
      return `Find: ${writtenOut(mode.text)}▏  enter next · esc ends`;
    default:
      return "";
  }
}

/** The first are never left out. */
function pieces(state: ReviewState): { needed: string[]; others: string[] } {
  const key = (act: ReviewAct) => keyOf(state.keys, act);
  /** Empty where no key does it. */
  const piece = (act: ReviewAct, words: string) => (key(act) === "" ? "" : `${key(act)} ${words}`);
  const undo = piece("review.undo", "undo");
  const redo = piece("review.redo", "redo");
  if (state.tab === "changes")
    return {
      needed: [piece("review.undo", `stage the undo of ${state.changeId ?? "the newest change"}`)],
      others: [redo, piece("review.open", "diff")],
    };
  const [here, file, all] = (["here", "file", "action"] as const).map((level) => scopeOf(state, level));
  const action = selectedAction(state);
  const isAsked = state.question !== undefined && state.question.key === action?.key;
  if (state.busy) return { needed: [`${state.busy.key} ${state.busy.word}`], others: [] };
  if (!here || !file || !all) {
    const hasNext = state.gone !== undefined && state.actions.length > 1;
    return { needed: hasNext ? [piece("review.nextHunk", "next pending action")] : [], others: [undo, redo] };
  }
  const some = here.isWhole ? "" : piece("review.applyHunk", `apply ${here.words}`);
  const parts =
    all.words === "it" ? [] : [some, file.words === "file" && !file.isWhole ? piece("review.applyFile", "file") : ""];
  const discards = (["review.discardHunk", "review.discardFile", "review.discardAll"] as const)
    .map(key)
    .filter(Boolean);
  const discard = discards.length === 0 ? "" : `${discards.join(" ")} discard`;
  if (isAsked)
    return {
      needed: [
        `Apply ${action?.key}?`,
        piece("review.applyAll", `yes, ${all.words}`),
        piece("review.discardAll", "no"),
        ...parts,
        piece("review.back", "later"),
      ],
      others: [],
    };
  if (action?.status === "stale")
    return {
      needed: [piece("review.rebase", "rebase"), `${discard} ${here.words} / file / ${all.words}`],
      others: [],
    };
  // Where the cursor is on all there is, two keys do the same.
  const every =
    here.isWhole && all.words !== "it"
      ? (["review.applyHunk", "review.applyAll"] as const)
      : (["review.applyAll"] as const);
  const whole = every.map(key).filter(Boolean);
  const apply = whole.length === 0 ? "" : `${whole.join(" ")} apply ${all.words}`;
  return { needed: [...parts, apply, discard], others: [undo] };
}

function joined({ needed, others }: { needed: string[]; others: string[] }, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of needed.filter((each) => each !== "")) {
    const next = line === "" ? ` ${piece}` : `${line}   ${piece}`;
    if (visibleWidth(next) <= columns || line === "") line = next;
    else {
      lines.push(line);
      line = ` ${piece}`;
    }
  }
  for (const piece of others.filter((each) => each !== "")) {
    const next = line === "" ? ` ${piece}` : `${line}   ${piece}`;
    if (visibleWidth(next) <= columns) line = next;
  }
  return [...lines, line].map((each) => cutTo(each, columns));
}

/** What the engine answered, or why nothing was done. */
export function messageLines(state: ReviewState, { columns, theme }: { columns: number; theme: Theme }): string[] {
  const action = selectedAction(state);
  const stale =
    action?.status === "stale" && state.tab === "pending" && !state.gone
      ? [theme.fg("warning", ` ${stateSigns.stale} ${writtenOut(staleText(action))}`)]
      : [];
  const { message } = state;
  if (!message) return stale;
  const isFailure = message.level === "failure";
  const text = `${isFailure ? "✗ " : ""}${message.text.split("\n").map(writtenOut).join("\n")}${isFailure ? "  (esc)" : ""}`;
  const lines = wrapTextWithAnsi(text, Math.max(10, columns - 2)).slice(0, 6);
  return [
    ...stale,
    ...lines.map((line) => (isFailure ? theme.fg("error", ` ${line}`) : theme.fg("accent", ` ${line}`))),
  ];
}

export function helpLines({ keys: table }: ReviewState): string[] {
  return (Object.keys(reviewKeys) as ReviewAct[])
    .filter((act) => table[act].length > 0)
    .map((act) => ` ${table[act].join(" ").padEnd(8)} ${reviewKeys[act].help}`);
}
