// A word that was meant as a command and is none would go to the model, which answers anything.

import { editDistance } from "../base/edit-distance.js";

type Words = readonly string[];

const isId = (word = "") => /^(?:[^\s:]+:)?(?:pa|ch)_\w*$|^\d+$/.test(word);
const isNone = (rest: Words) => rest.length === 0;
const startsWithId = (rest: Words) => isNone(rest) || isId(rest[0]);
const areIds = (rest: Words) => rest.every((word) => isId(word));
const oneOf = (names: string) => {
  const known = names.split(" ");
  return (rest: Words) => isNone(rest) || known.includes(rest[0] ?? "");
};
const onePlace = (rest: Words) => isNone(rest) || (rest.length === 1 && /^[.~/]|\//.test(rest[0] ?? ""));

/** Each command with what its arguments look like. */
const commands: Readonly<Record<string, (rest: Words) => boolean>> = {
  pending: isNone,
  show: startsWithId,
  apply: startsWithId,
  discard: startsWithId,
  undo: areIds,
  redo: areIds,
  recover: isNone,
  config: oneOf("get set unset list paths"),
  sessions: oneOf("list gc"),
  tools: oneOf("list check new run"),
  trust: onePlace,
  models: (rest) => rest.length < 2,
};

/**
 * The command that these words were meant as. `isPrompt`: the user said that they are one; then only a word that is
 * misspelt and followed by an id is not believed.
 */
export function meantCommand([word = "", ...rest]: Words, { isPrompt = false } = {}): string | undefined {
  if (isPrompt && (word in commands || !isId(rest[0]))) return undefined;
  const near = Object.entries(commands)
    .map(([name, fits]) => ({ name, fits, distance: editDistance(word, name) }))
    .filter(({ distance, fits }) => distance <= 2 && fits(rest));
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}
