// What a person means by an id. A number is taken for the action of that number, and the beginning of an id for the
// whole, as long as only one begins so.

import { basename } from "node:path";
import { GalleyError } from "../../base/errors.js";

/** Whether a word is an id of a pending action, rather than a path. */
export function isActionId(word: string): boolean {
  return /^(?:[^/]+:pa_\d+|pa_\d*|\d+)$/.test(word);
}

export function isChangeId(word: string): boolean {
  return /^ch_[0-9a-f]{0,8}$/.test(word);
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly session: { readonly id: string; readonly path: string };
}

/**
 * `pa_7`, `7`, `<session>:pa_7` with an id, the beginning of an id or a file name for the session. The beginning of a
 * number is never taken for the number: each shorter one is an action of its own, pending or not. Throws `usage`.
 */
export function findAction<Action extends Named>(all: readonly Action[], given: string): Action {
  const { of, id } = readId(given);
  const isMeant = (action: Action) => (/\d/.test(id) ? action.id === id : id !== "" && action.id.startsWith(id));
  const matches = all.filter((action) => isMeant(action) && (of === undefined || isSession(action, of)));
  const [only, ...others] = matches;
  if (!only) {
    const names = all.map(({ name }) => name).join(", ") || "none";
    throw new GalleyError("usage", `No pending action with id "${given}". Pending: ${names}.`);
  }
  if (others.length === 0) return only;
  const names = matches.map(({ name }) => name).join(", ");
  throw new GalleyError("usage", `Several pending actions are meant by "${given}". Name one: ${names}.`);
}

/** `of`: the session. */
export function readId(given: string): { readonly of: string | undefined; readonly id: string } {
  const [, of, word = given] = /^([^/]+):([^:]+)$/.exec(given) ?? [];
  return { of, id: /^\d+$/.test(word) ? `pa_${Number(word)}` : word };
}

function isSession({ session: { id, path } }: Named, of: string): boolean {
  return id.startsWith(of) || basename(path, ".jsonl") === of;
}

/** The name under which each is accepted: its id alone where no other has the same. */
export function nameOf(
  { id, session }: Pick<Named, "id" | "session">,
  all: readonly Pick<Named, "id" | "session">[],
): string {
  const same = all.filter((other) => other.id === id);
  if (same.length < 2) return id;
  // A session file that was copied by hand has the id of the original.
  const isOnly = same.filter((other) => other.session.id === session.id).length === 1;
  return `${isOnly ? session.id : basename(session.path, ".jsonl")}:${id}`;
}

/** The whole id of a change. Throws `usage`. */
export function findChange(ids: readonly string[], given: string): string {
  const matches = ids.includes(given) ? [given] : ids.filter((id) => id.startsWith(given));
  const [only, ...others] = [...new Set(matches)];
  if (only === undefined || given === "") {
    const kept = "galley changes lists those that are kept.";
    throw new GalleyError("usage", `There is no change with id "${given}" in this project. ${kept}`);
  }
  if (others.length === 0) return only;
  const names = [only, ...others].join(", ");
  throw new GalleyError("usage", `Several changes begin with "${given}". Name one: ${names}.`);
}
