// The review view without a terminal: keys go in, wishes come out. Promises: nothing is decided that the last line did not
// name; a key for what has gone decides nothing; one decision at a time.

import type { ReviewAction, ReviewDecision } from "../../sdk/review/review-source.js";
import type { Unit } from "./review-doc.js";
import { actOf, defaultReviewKeys, keyOf, type ReviewAct, type ReviewKeyTable } from "./review-keys.js";
import { atUnit, moveInList } from "./review-list.js";
import type { Level, Mode, Pressed, ReviewState, Scope } from "./review-model.js";
import { plural, scopeOf, selectedAction } from "./review-scope.js";

export type Unseen = (units: readonly Unit[]) => { lines: number; files: number };

const normal: Mode = { kind: "normal" };

export const firstState: ReviewState = {
  keys: defaultReviewKeys,
  tab: "pending",
  pane: "list",
  isWide: false,
  actions: [],
  changes: [],
  unit: 0,
  marks: new Set(),
  mode: normal,
  isSplit: false,
  isCut: false,
};

export const appliedReason = "applied in review";
export const discardedReason = "discarded in review";

const applies: Partial<Record<ReviewAct, Level>> = {
  "review.applyHunk": "here",
  "review.applyFile": "file",
  "review.applyAll": "action",
};
const discards: Partial<Record<ReviewAct, Level>> = {
  "review.discardHunk": "here",
  "review.discardFile": "file",
  "review.discardAll": "action",
};

/** `key`: a character as it was typed, or the name of a key. */
export function press(state: ReviewState, key: string, unseen: Unseen): Pressed {
  const { mode } = state;
  if (mode.kind === "reason") return pressInReason(state, mode, key);
  if (mode.kind === "find") return pressInFind(state, mode, key);
  if (mode.kind === "rest") return pressForRest(state, mode, key);
  if (mode.kind === "help") return { state: { ...state, mode: helpAfter(state.keys, mode.from, key) } };
  const act = actOf(state.keys, key);
  if (isAcknowledged(state, act)) return { state: { ...state, message: undefined } };
  const read = withoutMessage(state);
  if (mode.kind === "again") {
    if (act === mode.act) return carryOut(read, mode.scope, applies[mode.act] ?? "action");
    const back = { ...read, mode: normal };
    const isDecision = act !== undefined && (act in applies || act in discards);
    return isDecision || act === "review.back" ? { state: back } : pressNormal(back, act, unseen);
  }
  return pressNormal(read, act, unseen);
}

/** The keys may be more than the window has rows; any other key ends it. */
function helpAfter(keys: ReviewKeyTable, from: number, key: string): Mode {
  const steps: Partial<Record<ReviewAct, number>> = {
    "review.down": 1,
    "review.pageDown": 5,
    "review.up": -1,
    "review.pageUp": -5,
  };
  const step = steps[actOf(keys, key) ?? "review.help"];
  return step === undefined ? normal : { kind: "help", from: Math.max(0, from + step) };
}

/** A failure stays until it is read; the key that says so does nothing else. */
function isAcknowledged({ message }: ReviewState, act: ReviewAct | undefined): boolean {
  return message?.level === "failure" && (act === "review.back" || act === "review.open");
}

/** What was answered goes with the next key. */
function withoutMessage(state: ReviewState): ReviewState {
  return state.message?.level === "info" ? { ...state, message: undefined } : state;
}

function pressNormal(state: ReviewState, act: ReviewAct | undefined, unseen: Unseen): Pressed {
  if (act === undefined) return { state };
  const applied = applies[act];
  if (applied) return apply(state, { act, level: applied, unseen });
  const discarded = discards[act];
  if (discarded) return discard(state, discarded);
  return others[act]?.(state) ?? { state };
}

function say(state: ReviewState, level: "info" | "failure", text: string): Pressed {
  return { state: { ...state, message: { level, text } } };
}

/** Why nothing can be decided about the selected action; undefined: it can. */
function hindrance(state: ReviewState): string | undefined {
  const action = selectedAction(state);
  if (state.tab === "changes") return `A change is taken back with ${keyOf(state.keys, "review.undo")}.`;
  if (!action) return "Nothing is selected.";
  if (state.gone?.key === action.key) return state.gone.text;
  if (state.busy) return `One decision at a time: ${state.busy.key} ${state.busy.word}`;
  if (state.question && state.question.key !== action.key)
    return `The model waits for an answer about ${state.question.key}. Decide about it first.`;
  if (action.status === "applying" && !state.question) return `${action.key} is being applied.`;
  return undefined;
}

export function staleText({ files }: ReviewAction): string {
  const names = files.filter(({ isStale }) => isStale).map(({ shown }) => shown);
  return `stale: ${names.join(", ") || "a file"} changed on disk`;
}

function apply(state: ReviewState, { act, level, unseen }: { act: ReviewAct; level: Level; unseen: Unseen }): Pressed {
  const reason = hindrance(state);
  if (reason !== undefined) return say(state, "info", reason);
  const action = selectedAction(state);
  if (action?.status === "stale")
    return say(state, "failure", `${staleText(action)}. ${keyOf(state.keys, "review.rebase")} rebases it.`);
  const scope = scopeOf(state, level);
  if (!scope) return say(state, "info", "The diff is still being read.");
  const { lines, files } = unseen(scope.units);
  const again = `Press ${keyOf(state.keys, act)} again to apply`;
  const texts = [
    ...scope.also.map(({ key, paths }) => `It would also write ${key} for ${paths.join(", ")}.`),
    ...(scope.guarded.length > 0 ? [`It changes what is protected: ${scope.guarded.join(", ")}.`] : []),
    ...(lines > 0 ? [`${plural(lines, "line")} in ${plural(files, "file")} not seen yet.`] : []),
  ];
  if (texts.length === 0) return carryOut(state, scope, level);
  const end = scope.also.length > 0 ? `${again} them together.` : `${again} all the same.`;
  return { state: { ...state, mode: { kind: "again", act, scope, text: `${texts.join(" ")} ${end}` } } };
}

/** The scope that was asked about must still be the one that is meant. */
function carryOut(state: ReviewState, scope: Scope, level: Level): Pressed {
  const back = { ...state, mode: normal };
  const now = scopeOf(back, level);
  if (hindrance(back) !== undefined || !now || !isSame(now, scope))
    return say(back, "info", "It has changed meanwhile. Nothing was decided.");
  const { key, revision, files, hunks, also, guarded, isWhole } = scope;
  if (state.question) {
    if (isWhole) return { state: back, wish: { kind: "answer", answer: true } };
    return { state: { ...back, mode: { kind: "rest", scope } } };
  }
  const decision: ReviewDecision = {
    key,
    revision,
    action: "apply",
    reason: appliedReason,
    ...(files ? { files } : {}),
    ...(hunks ? { hunks } : {}),
    ...(also.length > 0 ? { withDeps: true } : {}),
    ...(guarded.length > 0 ? { protected: true } : {}),
  };
  return { state: { ...back, busy: { key, word: "applying…" } }, wish: { kind: "decide", decision, scope } };
}

function isSame(one: Scope, other: Scope): boolean {
  const { key, revision, units } = one;
  if (key !== other.key || revision !== other.revision || units.length !== other.units.length) return false;
  return units.every(({ index }, at) => index === other.units[at]?.index);
}

function discard(state: ReviewState, level: Level): Pressed {
  const reason = hindrance(state);
  if (reason !== undefined) return say(state, "info", reason);
  const scope = scopeOf(state, level);
  if (!scope) return say(state, "info", "The diff is still being read.");
  if (state.question && !scope.isWhole)
    return say(
      state,
      "info",
      `Mark what to apply and press ${keyOf(state.keys, "review.applyHunk")}; then the rest can be discarded.`,
    );
  return { state: { ...state, mode: { kind: "reason", scope, text: "" } } };
}

function pressInReason(state: ReviewState, mode: Extract<Mode, { kind: "reason" }>, key: string): Pressed {
  if (key === "escape") return { state: { ...state, mode: normal } };
  if (key !== "enter") return { state: { ...state, mode: { ...mode, text: typed(mode.text, key) } } };
  const back = { ...state, mode: normal };
  const { scope } = mode;
  const action = selectedAction(back);
  if (hindrance(back) !== undefined || action?.key !== scope.key || action.revision !== scope.revision)
    return say(back, "info", "It has changed meanwhile. Nothing was decided.");
  const reason = mode.text.trim() || discardedReason;
  if (state.question) return { state: back, wish: { kind: "answer", answer: { apply: {}, rest: "discard", reason } } };
  const { key: of, revision, files, hunks } = scope;
  const part = { ...(files ? { files } : {}), ...(hunks ? { hunks } : {}) };
  const decision: ReviewDecision = { key: of, revision, action: "discard", reason, ...part };
  return { state: { ...back, busy: { key: of, word: "discarding…" } }, wish: { kind: "decide", decision, scope } };
}

/** A part is applied: the model is told what becomes of the rest. */
function pressForRest(state: ReviewState, { scope }: Extract<Mode, { kind: "rest" }>, key: string): Pressed {
  const back = { ...state, mode: normal };
  const rest = key === "k" ? "keep" : key === "d" ? "discard" : undefined;
  if (key === "escape") return { state: back };
  if (!rest) return { state };
  const { files, hunks } = scope;
  const part = { ...(files ? { files } : {}), ...(hunks ? { hunks } : {}) };
  const why = rest === "discard" ? { reason: discardedReason } : {};
  return { state: back, wish: { kind: "answer", answer: { apply: part, rest, ...why } } };
}

function pressInFind(state: ReviewState, mode: Extract<Mode, { kind: "find" }>, key: string): Pressed {
  if (key === "escape") return { state: { ...state, mode: normal } };
  if (key === "enter") return { state, wish: { kind: "find", text: mode.text, isNext: true } };
  const text = typed(mode.text, key);
  if (text === mode.text) return { state };
  return { state: { ...state, mode: { ...mode, text } }, wish: { kind: "find", text, isNext: false } };
}

const maxTyped = 500;

function typed(text: string, key: string): string {
  if (key === "backspace") return [...text].slice(0, -1).join("");
  if (key === "space") return `${text} `;
  const isText = [...key].length === 1 || key.startsWith("paste:");
  return isText ? (text + key.replace(/^paste:/, "").replace(/[\r\n]+/g, " ")).slice(0, maxTyped) : text;
}

type Other = (state: ReviewState) => Pressed;

const scrolled =
  (by: "line" | "page" | "end", direction: -1 | 1): Other =>
  (state) =>
    state.pane === "diff" ? { state, wish: { kind: "scroll", by, direction } } : moveInList(state, by, direction);

const others: Partial<Record<ReviewAct, Other>> = {
  "review.nextHunk": (state) => moveUnit(state, 1, () => true),
  "review.previousHunk": (state) => moveUnit(state, -1, () => true),
  "review.nextFile": (state) => moveUnit(state, 1, isFirstOfFile),
  "review.previousFile": (state) => moveUnit(state, -1, isFirstOfFile),
  "review.up": scrolled("line", -1),
  "review.down": scrolled("line", 1),
  "review.pageUp": scrolled("page", -1),
  "review.pageDown": scrolled("page", 1),
  "review.top": scrolled("end", -1),
  "review.end": scrolled("end", 1),
  "review.otherPane": (state) => ({ state: { ...state, pane: state.pane === "list" ? "diff" : "list" } }),
  "review.open": (state) =>
    state.pane === "list" ? { state: { ...state, pane: "diff" }, wish: { kind: "load" } } : { state },
  "review.back": back,
  "review.close": (state) => closing(state),
  "review.mark": mark,
  "review.edit": edit,
  "review.openFile": (state) => {
    const { doc, unit } = state;
    const file = doc?.files[doc.units[unit]?.file ?? 0];
    return file ? { state, wish: { kind: "openFile", path: file.path } } : { state };
  },
  "review.sideBySide": (state) => ({ state, wish: { kind: "split" } }),
  "review.wrap": (state) => ({ state: { ...state, isCut: !state.isCut } }),
  "review.find": (state) => ({ state: { ...state, pane: "diff", mode: { kind: "find", text: "" } } }),
  "review.pendingTab": (state) => tab(state, "pending"),
  "review.changesTab": (state) => tab(state, "changes"),
  "review.undo": (state) => takeBack(state, "undo"),
  "review.redo": (state) => takeBack(state, "redo"),
  "review.rebase": rebase,
  "review.copy": (state) => (state.doc ? { state, wish: { kind: "copy" } } : { state }),
  "review.help": (state) => ({ state: { ...state, mode: { kind: "help", from: 0 } } }),
};

/** In a narrow window the list is behind the diff; a single action has no list to go back to. */
function back(state: ReviewState): Pressed {
  if (state.question && state.actionKey === state.question.key) return closing(state);
  if (state.pane === "diff") return { state: { ...state, pane: "list" } };
  return closing(state);
}

function closing(state: ReviewState): Pressed {
  return { state, wish: state.question ? { kind: "answer", answer: "postponed" } : { kind: "close" } };
}

function tab(state: ReviewState, wanted: ReviewState["tab"]): Pressed {
  if (state.tab === wanted) return { state };
  const next: ReviewState = { ...state, tab: wanted, pane: "list", marks: new Set(), doc: undefined, unit: 0 };
  const selected = wanted === "changes" ? { changeId: state.changeId ?? state.changes[0]?.id } : {};
  return { state: { ...next, ...selected }, wish: { kind: "load" } };
}

function isFirstOfFile(units: readonly Unit[], index: number): boolean {
  return units[index - 1]?.file !== units[index]?.file;
}

function moveUnit(
  state: ReviewState,
  step: -1 | 1,
  isWanted: (units: readonly Unit[], index: number) => boolean,
): Pressed {
  const units = state.doc?.units ?? [];
  for (let index = state.unit + step; index >= 0 && index < units.length; index += step)
    if (isWanted(units, index)) return { state: atUnit({ ...state, pane: "diff" }, index), wish: { kind: "show" } };
  if (state.gone) return moveInList(state, "line", step);
  return { state: { ...state, pane: "diff" }, wish: { kind: "show" } };
}

function mark(state: ReviewState): Pressed {
  const scope = scopeOf({ ...state, marks: new Set() }, "here");
  if (!scope) return { state };
  const marks = new Set(state.marks);
  const areMarked = scope.units.every(({ index }) => marks.has(index));
  for (const { index } of scope.units) areMarked ? marks.delete(index) : marks.add(index);
  return { state: { ...state, marks } };
}

function edit(state: ReviewState): Pressed {
  const reason = hindrance(state);
  if (reason !== undefined) return say(state, "info", reason);
  if (state.question) return say(state, "info", "The model waits for an answer. Postpone it to edit it.");
  const { doc, unit } = state;
  const here = doc?.units[unit];
  const file = here && doc?.files[here.file];
  if (!here || !file || !scopeOf(state, "here")) return { state };
  if ((file.kind !== "modify" && file.kind !== "create") || file.binary || file.hunks.length === 0)
    return say(state, "info", "Only new text can be edited.");
  return { state, wish: { kind: "edit", unit: here } };
}

function takeBack(state: ReviewState, verb: "undo" | "redo"): Pressed {
  if (state.question) return say(state, "info", `The model waits for an answer about ${state.question.key}.`);
  if (state.busy) return say(state, "info", `One decision at a time: ${state.busy.key} ${state.busy.word}`);
  const busy = { key: verb, word: "…" };
  const changeId = state.tab === "changes" ? state.changeId : undefined;
  return { state: { ...state, busy }, wish: verb === "undo" ? { kind: "undo", changeId } : { kind: "redo" } };
}

function rebase(state: ReviewState): Pressed {
  const reason = hindrance(state);
  if (reason !== undefined) return say(state, "info", reason);
  const action = selectedAction(state);
  if (!action || state.question) return { state };
  if (action.status !== "stale") return say(state, "info", `${action.key} is not stale.`);
  const { key, revision } = action;
  return { state: { ...state, busy: { key, word: "rebasing…" } }, wish: { kind: "rebase", key, revision } };
}
