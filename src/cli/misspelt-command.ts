// A word that was meant as a command and is none would go to the model, which answers anything.

import { editDistance } from "../base/edit-distance.js";
import { type Verb, verbs } from "./verbs.js";

type Words = readonly string[];

/**
 * The command that these words were meant as. `isPrompt`: the user said that they are one; then only a word that is
 * misspelt and followed by an id is not believed.
 */
export function meantCommand([word = "", ...rest]: Words, { isPrompt = false } = {}): string | undefined {
  if (isPrompt && (verbs.some(({ name }) => name === word) || !isId(rest[0]))) return undefined;
  return verbs
    .map((verb) => ({ ...verb, distance: editDistance(word, verb.name) }))
    .filter((verb) => verb.distance <= 2 && verb.name !== "help" && looksLikeArguments(verb, rest)) // the planner knows "help"
    .sort((a, b) => a.distance - b.distance)[0]?.name;
}

/** By the first word of its usage: a word in capitals stands for a value. */
function looksLikeArguments({ usage, forms = [] }: Verb, rest: Words): boolean {
  const [first = ""] = rest;
  if (rest.length === 0) return true;
  const subcommands = forms.map((form) => form.usage.split(" ")[0] ?? "").filter((name) => /^[a-z]+$/.test(name));
  if (subcommands.length > 0) return subcommands.includes(first);
  if (usage.startsWith("ID")) return isId(first);
  if (usage.startsWith("[CHANGE")) return rest.every(isId);
  if (usage.startsWith("[DIR]")) return rest.length === 1 && /^[.~/]|\//.test(first);
  return /^(?:\[[A-Z]+\]|[A-Z]+\|)/.test(usage) && rest.length === 1;
}

function isId(word = ""): boolean {
  return /^(?:[^\s:]+:)?(?:pa|ch)_\w*$|^\d+$/.test(word);
}
