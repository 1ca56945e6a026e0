// The command lines of the review verbs: which words are ids, which are paths, and what each option means.

import { isActionId, isChangeId } from "../../sdk/review/find-by-id.js";
import { unknownOption, wrongUse } from "../verb-help.js";

export type PendingVerb = "pending" | "show" | "apply" | "discard" | "rebase" | "changes" | "undo" | "redo" | "recover";

/** A pending action or a change, and the files of it that are meant; none means all. */
export interface Target {
  readonly id: string;
  readonly paths: readonly string[];
}

export interface PendingWords {
  readonly verb: PendingVerb;
  readonly targets: readonly Target[];
  /** With `--all`: the files that are meant of every action; none means all. */
  readonly paths: readonly string[];
  readonly hunks: readonly { readonly path: string; readonly hunks: readonly number[] }[];
  /** The switches that were given, without their dashes. */
  readonly flags: ReadonlySet<string>;
  readonly reason: string;
  readonly sessionDir?: string | undefined;
}

/** The switches of each verb, and the options with a value. */
const switches: { readonly [V in PendingVerb]: readonly string[] } = {
  pending: [],
  show: ["stat", "files"],
  apply: ["all", "with-deps", "protected"],
  discard: ["all", "with-deps"],
  rebase: ["partial"],
  changes: [],
  undo: ["run", "preview", "yes", "protected"],
  redo: ["preview", "yes", "protected"],
  recover: [],
};

export function parsePendingWords(verb: PendingVerb, words: readonly string[]): PendingWords {
  const { flags, values, rest } = sorted(verb, words);
  const hunks = (values.get("hunks") ?? []).map((text) => parseHunks(verb, text));
  const files = (values.get("files") ?? []).flatMap((list) => list.split(",").filter((path) => path !== ""));
  const isAll = flags.has("all");
  const targets = isAll ? [] : targetsOf(verb, [...rest, ...files]);
  const paths = isAll ? [...rest, ...files] : [];
  checkTargets(verb, { targets, isAll, hasHunks: hunks.length > 0, isRun: flags.has("run") });
  if (isAll && flags.has("protected")) throw wrongUse(verb, "--protected needs the names of what to apply.");
  if (isAll && rest.some(isId)) throw wrongUse(verb, `Name what to ${verb}, or use --all.`);
  const reason = values.get("reason")?.at(-1) ?? `galley ${verb}`;
  return { verb, targets, paths, hunks, flags, reason, sessionDir: values.get("session-dir")?.at(-1) };
}

function sorted(verb: PendingVerb, words: readonly string[]) {
  const settles = verb === "apply" || verb === "discard";
  const known = new Set(["json", ...switches[verb]]);
  const valued = new Set(["session-dir", ...(settles ? ["hunks", "reason", "files"] : [])]);
  const flags = new Set<string>();
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word === "--") {
      rest.push(...words.slice(index + 1));
      break;
    }
    const [, name = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (!word.startsWith("-") || word === "-") rest.push(word);
    else if (valued.has(name)) {
      const value = inline ?? words[++index];
      if (value === undefined) throw wrongUse(verb, `--${name} needs a value.`);
      values.set(name, [...(values.get(name) ?? []), value]);
    } else if (known.has(name) && inline === undefined) flags.add(name);
    else
      throw unknownOption(
        verb,
        word,
        [...known, ...valued].map((each) => `--${each}`),
      );
  }
  return { flags, values, rest };
}

/** A word that is an id begins a target; what follows it and is none is a path of that target. */
function targetsOf(verb: PendingVerb, words: readonly string[]): Target[] {
  const targets: { id: string; paths: string[] }[] = [];
  for (const word of words) {
    const last = targets.at(-1);
    const isOther = !last || isId(word);
    if (isOther) targets.push({ id: word, paths: [] });
    else if (verb === "undo" || verb === "rebase")
      throw wrongUse(verb, `galley ${verb} takes whole actions, not ${word}.`);
    else last.paths.push(word);
  }
  return targets;
}

/** A file of such a name can be given as a path: `./7`. */
function isId(word: string): boolean {
  return isActionId(word) || isChangeId(word);
}

function parseHunks(verb: PendingVerb, text: string): { path: string; hunks: number[] } {
  const [, path, list] = /^(.+):(\d+(?:,\d+)*)$/s.exec(text) ?? [];
  if (path === undefined || list === undefined) throw wrongUse(verb, `--hunks ${text} is not of the form PATH:1,3.`);
  return { path, hunks: list.split(",").map(Number) };
}

function checkTargets(
  verb: PendingVerb,
  {
    targets,
    isAll,
    hasHunks,
    isRun,
  }: { targets: readonly Target[]; isAll: boolean; hasHunks: boolean; isRun: boolean },
): void {
  const count = targets.length;
  if (verb === "show" && count !== 1) throw wrongUse(verb, "Name one pending action or change to show.");
  if (verb === "rebase" && count !== 1) throw wrongUse(verb, "Name one pending action to rebase.");
  if ((verb === "apply" || verb === "discard") && count === 0 && !isAll)
    throw wrongUse(verb, `Name what to ${verb}, or use --all.`);
  if (hasHunks && count !== 1) throw wrongUse(verb, "Hunks are chosen from one pending action.");
  if (verb === "undo" && (count > 1 || (isRun && count > 0)))
    throw wrongUse(verb, isRun ? "Name a change, or use --run." : "galley undo takes one change at most.");
  if (["pending", "changes", "redo", "recover"].includes(verb) && count > 0)
    throw wrongUse(verb, `galley ${verb} takes no names.`);
}
