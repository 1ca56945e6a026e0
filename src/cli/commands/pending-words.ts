// The command lines of the pending verbs.

import { GalleyError } from "../../base/errors.js";

const verbs = ["pending", "show", "apply", "discard", "undo", "redo", "recover"] as const;
type PendingVerb = (typeof verbs)[number];

export interface PendingWords {
  readonly verb: PendingVerb;
  readonly ids: readonly string[];
  readonly isAll: boolean;
  readonly isJson: boolean;
  readonly isPreview: boolean;
  readonly reason: string;
  readonly files?: readonly string[] | undefined;
  readonly sessionDir?: string | undefined;
}

export const pendingUsage = `Usage
  galley pending [--json]                        what waits for a decision in the sessions of this directory
  galley show ID [--json]                        one of them, with its diff
  galley apply ID...|--all [--reason TEXT] [--files a,b] [--json]
  galley discard ID...|--all [--reason TEXT] [--files a,b] [--json]
  galley undo [CHANGE] [--preview] [--json]      takes back the newest change here, or the named one
  galley redo [--preview] [--json]               takes back the newest undo
  galley recover [--json]                        finishes what a crash left half applied
Each takes --session-dir DIR, for sessions that are stored there.
`;

export function isPendingVerb(word: string | undefined): word is PendingVerb {
  return verbs.includes(word as PendingVerb);
}

export function parsePendingWords(verb: string, words: readonly string[]): PendingWords | "help" {
  if (!isPendingVerb(verb)) throw wrong(`Unknown command ${verb}.`);
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(pendingUsage);
    return "help";
  }
  const rest = [...words];
  const flag = (name: string) => {
    const index = rest.indexOf(name);
    if (index !== -1) rest.splice(index, 1);
    return index !== -1;
  };
  const value = (name: string) => {
    const index = rest.indexOf(name);
    if (index === -1) return undefined;
    const [, given] = rest.splice(index, 2);
    if (given === undefined) throw wrong(`${name} needs a value.`);
    return given;
  };
  const settles = verb === "apply" || verb === "discard";
  const takesBack = verb === "undo" || verb === "redo";
  const isJson = flag("--json");
  const isAll = settles && flag("--all");
  const isPreview = takesBack && flag("--preview");
  if (takesBack) flag("--yes");
  const reason = (settles ? value("--reason") : undefined) ?? `galley ${verb}`;
  const files = (settles ? value("--files") : undefined)?.split(",").filter((path) => path !== "");
  const sessionDir = value("--session-dir");
  const unknown = rest.find((word) => word.startsWith("-"));
  if (unknown !== undefined) throw wrong(`Unknown option ${unknown}.`);
  checkCount(verb, rest.length, isAll);
  return { verb, ids: rest, isAll, isJson, isPreview, reason, ...(files ? { files } : {}), sessionDir };
}

function checkCount(verb: PendingVerb, count: number, isAll: boolean): void {
  if (verb === "show" && count !== 1) throw wrong("Name one pending action to show.");
  if ((verb === "apply" || verb === "discard") && count > 0 === isAll)
    throw wrong(`Name what to ${verb}, or use --all.`);
  if (count > (verb === "undo" ? 1 : 0) && ["pending", "undo", "redo", "recover"].includes(verb))
    throw wrong(`galley ${verb} takes ${verb === "undo" ? "one change at most" : "no names"}.`);
}

function wrong(text: string): GalleyError {
  return new GalleyError("usage", `${text}\n\n${pendingUsage.trimEnd()}`);
}
