// The command lines of the review verbs: which words are ids, which are paths, and what each option means.

import { GalleyError } from "../../base/errors.js";
import { isActionId, isChangeId } from "../../sdk/review/find-by-id.js";

const verbs = ["pending", "show", "apply", "discard", "rebase", "changes", "undo", "redo", "recover"] as const;
type PendingVerb = (typeof verbs)[number];

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

export const pendingUsage = `Usage
  galley pending                                 what waits for a decision in this project
  galley show ID [PATH...] [--stat|--files]      a pending action or a change, with its diff
  galley apply ID [PATH...]...|--all [PATH...]   write it, or only some files of it
  galley discard ID [PATH...]...|--all [PATH...] drop it, or only some files of it
      --hunks PATH:1,3   only these hunks of a file    --reason TEXT   why, for the record
      --with-deps        also what it rests on
  galley rebase ID [--partial]                   make a stale one anew, for the files as they are now
  galley changes                                 what was applied, the newest first
  galley undo [CHANGE]                           take back the newest change, or the named one
  galley undo --run [--yes]                      all changes of the last run: staged, or with --yes taken back
  galley redo                                    take back the newest undo
      --preview          only stage it
  galley recover                                 finish what a crash left half applied
An ID is pa_7 or just 7; a change is ch_1a2b3c4d or the beginning of it. A PATH is a file, a directory or a glob.
Each takes --json, and --session-dir DIR for sessions that are stored there.
`;

/** The switches of each verb, and the options with a value. */
const switches: { readonly [V in PendingVerb]: readonly string[] } = {
  pending: [],
  show: ["stat", "files"],
  apply: ["all", "with-deps"],
  discard: ["all", "with-deps"],
  rebase: ["partial"],
  changes: [],
  undo: ["run", "preview", "yes"],
  redo: ["preview", "yes"],
  recover: [],
};

export function isPendingVerb(word: string | undefined): word is PendingVerb {
  return verbs.includes(word as PendingVerb);
}

export function parsePendingWords(verb: string, words: readonly string[]): PendingWords | "help" {
  if (!isPendingVerb(verb)) throw wrong(`Unknown command ${verb}.`);
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(pendingUsage);
    return "help";
  }
  const { flags, values, rest } = sorted(verb, words);
  const hunks = (values.get("hunks") ?? []).map(parseHunks);
  const files = (values.get("files") ?? []).flatMap((list) => list.split(",").filter((path) => path !== ""));
  const isAll = flags.has("all");
  const targets = isAll ? [] : targetsOf(verb, [...rest, ...files]);
  const paths = isAll ? [...rest, ...files] : [];
  checkTargets(verb, { targets, isAll, hasHunks: hunks.length > 0, isRun: flags.has("run") });
  if (isAll && rest.some(isId)) throw wrong(`Name what to ${verb}, or use --all.`);
  const reason = values.get("reason")?.at(-1) ?? `galley ${verb}`;
  return { verb, targets, paths, hunks, flags, reason, sessionDir: values.get("session-dir")?.at(-1) };
}

interface SortedWords {
  readonly flags: Set<string>;
  readonly values: Map<string, string[]>;
  readonly rest: string[];
}

function sorted(verb: PendingVerb, words: readonly string[]): SortedWords {
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
      if (value === undefined) throw wrong(`--${name} needs a value.`);
      values.set(name, [...(values.get(name) ?? []), value]);
    } else if (known.has(name) && inline === undefined) flags.add(name);
    else throw wrong(`Unknown option ${word}.`);
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
    else if (verb === "undo" || verb === "rebase") throw wrong(`galley ${verb} takes whole actions, not ${word}.`);
    else last.paths.push(word);
  }
  return targets;
}

/** A file of such a name can be given as a path: `./7`. */
function isId(word: string): boolean {
  return isActionId(word) || isChangeId(word);
}

function parseHunks(text: string): { path: string; hunks: number[] } {
  const [, path, list] = /^(.+):(\d+(?:,\d+)*)$/s.exec(text) ?? [];
  if (path === undefined || list === undefined) throw wrong(`--hunks ${text} is not of the form PATH:1,3.`);
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
  if (verb === "show" && count !== 1) throw wrong("Name one pending action or change to show.");
  if (verb === "rebase" && count !== 1) throw wrong("Name one pending action to rebase.");
  if ((verb === "apply" || verb === "discard") && count === 0 && !isAll)
    throw wrong(`Name what to ${verb}, or use --all.`);
  if (hasHunks && count !== 1) throw wrong("Hunks are chosen from one pending action.");
  if (verb === "undo" && (count > 1 || (isRun && count > 0)))
    throw wrong(isRun ? "Name a change, or use --run." : "galley undo takes one change at most.");
  if (["pending", "changes", "redo", "recover"].includes(verb) && count > 0)
    throw wrong(`galley ${verb} takes no names.`);
}

function wrong(text: string): GalleyError {
  return new GalleyError("usage", `${text}\n\n${pendingUsage.trimEnd()}`);
}
