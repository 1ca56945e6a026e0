// The user's file of keys: `{"<action>": "key" | ["key", …] | null}`. What it says that cannot be used (an unknown action, an
// unknown key, a key that another action has) is a notice that names it; the rest counts.

import { type KeybindingsConfig, type KeyId, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { isObject } from "../base/json.js";
import { nearestName } from "../base/nearest-name.js";
import { oneLine } from "../base/sanitize.js";
import { defaultReviewKeys, type ReviewAct, type ReviewKeyTable } from "./review/review-keys.js";
import { type AppAction, defaultKeys, type KeyTable } from "./terminal-keys.js";

export interface KeyChoice {
  readonly keys: KeyTable;
  /** For the library: the keys of its editor and lists. */
  readonly library: KeybindingsConfig;
  /** For the review view. */
  readonly review: ReviewKeyTable;
  readonly notices: readonly string[];
}

type Bindings = Map<string, readonly string[]>;

/** `text` is undefined where there is no file. */
export function readKeyFile(text: string | undefined, name = "keybindings.json"): KeyChoice {
  const notices: string[] = [];
  const holding = defaults();
  const given: Bindings = new Map();
  const unknown: string[] = [];
  for (const [action, value] of Object.entries(parsed(text, notices, name))) {
    const keys = keysOf(action, value, (problem) => notices.push(`${name}: ${problem}`));
    if (!keys) continue;
    if (holding.has(action)) given.set(action, keys);
    else unknown.push(action);
  }
  // A file of another program may have many: one notice names them all.
  const [one = ""] = unknown;
  if (unknown.length === 1) notices.push(`${name}: unknown action ${shown(one)}.${meant(one, holding)}`);
  else if (unknown.length > 1) notices.push(`${name}: unknown actions ${unknown.map(shown).join(", ")}.`);
  take(given, holding, (problem) => notices.push(`${name}: ${problem}`));
  return { keys: appTable(holding), library: libraryConfig(holding), review: reviewTable(holding), notices };
}

/** All that hold without a file: ours, and the library's with one key more for a new line. */
function defaults(): Bindings {
  const bindings: Bindings = new Map(Object.entries({ ...defaultKeys(), ...defaultReviewKeys }));
  for (const [action, { defaultKeys: keys }] of Object.entries(TUI_KEYBINDINGS))
    bindings.set(action, typeof keys === "string" ? [keys] : [...keys]);
  bindings.set("tui.input.newLine", ["shift+enter", "ctrl+j"]);
  return bindings;
}

/** First what the file takes away, so that a key can move from one action to another in any order. */
function take(given: Bindings, holding: Bindings, complain: (problem: string) => void): void {
  const before = new Map(holding);
  for (const action of given.keys()) holding.set(action, []);
  for (const [action, keys] of given) {
    const free = keys.filter((key) => {
      if (before.get(action)?.includes(key)) return true; // it has always been shared
      const other = [...holding].find(([name, held]) => name !== action && meets(name, action) && held.includes(key));
      if (other) complain(`${key} is already ${other[0]}, so it is not ${action}.`);
      return !other;
    });
    holding.set(action, free);
  }
}

/** A list and the review view have the keyboard for themselves: their keys may do something else in the editor. */
function meets(one: string, other: string): boolean {
  return placeOf(one) === placeOf(other);
}

function placeOf(action: string): "editor" | "list" | "review" {
  if (action.startsWith("review.")) return "review";
  return action.startsWith("tui.select.") ? "list" : "editor";
}

function parsed(text: string | undefined, notices: string[], name: string): Record<string, unknown> {
  if (text === undefined || text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
    notices.push(`${name}: it must be one object of actions and keys.`);
  } catch (error) {
    notices.push(`${name}: it is not JSON (${oneLine(String((error as Error).message), 100)}).`);
  }
  return {};
}

function keysOf(action: string, value: unknown, complain: (problem: string) => void): readonly string[] | undefined {
  if (value === null) return [];
  const words = typeof value === "string" ? [value] : value;
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string")) {
    complain(`${shown(action)} must be a key, a list of keys or null.`);
    return undefined;
  }
  return (words as string[]).flatMap((word) => {
    const key = placeOf(action) === "review" ? reviewKeyOf(word) : keyOf(word);
    if (!key) complain(`unknown key ${shown(word)} for ${shown(action)}.`);
    if (key === "ctrl+c" && placeOf(action) === "review")
      complain(`ctrl+c closes the review view, so it is not ${shown(action)}.`);
    else if (key) return [key];
    return [];
  });
}

const modifiers = ["ctrl", "shift", "alt", "super"];
const named = new Set(
  (
    "escape esc enter return tab space backspace delete insert clear home end pageUp pageDown up down left right " +
    "f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12"
  ).split(" "),
);

/** As the library writes it; undefined for what is no key. */
function keyOf(word: string): KeyId | undefined {
  const parts = word.endsWith("++") ? [...word.slice(0, -2).split("+"), "+"] : word.split("+");
  const last = parts.pop() ?? "";
  const before = parts.map((part) => part.toLowerCase());
  if (before.some((part) => !modifiers.includes(part)) || new Set(before).size < before.length) return undefined;
  const key = [...named].find((name) => name.toLowerCase() === last.toLowerCase()) ?? last.toLowerCase();
  if (!named.has(key) && !/^[!-~]$/.test(key)) return undefined;
  return [...before, key].join("+") as KeyId;
}

/** There a character is a key as it is typed: `a` and `A` are two. */
function reviewKeyOf(word: string): string | undefined {
  const [, character] = /^(?:shift\+)?([!-~])$/i.exec(word) ?? [];
  if (character === undefined) return keyOf(word);
  return word === character ? character : character.toUpperCase();
}

function appTable(holding: Bindings): KeyTable {
  const actions = Object.keys(defaultKeys()) as AppAction[];
  return Object.fromEntries(actions.map((action) => [action, holding.get(action) ?? []])) as KeyTable;
}

function reviewTable(holding: Bindings): ReviewKeyTable {
  const acts = Object.keys(defaultReviewKeys) as ReviewAct[];
  return Object.fromEntries(acts.map((act) => [act, holding.get(act) ?? []])) as Record<ReviewAct, readonly string[]>;
}

function libraryConfig(holding: Bindings): KeybindingsConfig {
  const own = [...holding].filter(([action]) => action.startsWith("tui."));
  return Object.fromEntries(own.map(([action, keys]) => [action, [...keys] as KeyId[]]));
}

function meant(action: string, holding: Bindings): string {
  const near = nearestName(action, [...holding.keys()]);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

function shown(text: string): string {
  return oneLine(text, 60);
}
