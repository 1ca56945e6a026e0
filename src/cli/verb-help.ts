// `galley VERB --help`, and what a wrong use of a verb is answered with. One form for all verbs.

import { GalleyError } from "../base/errors.js";
import { nearestName } from "../base/nearest-name.js";
import { flagText, optionSpecs } from "./options.js";
import { type Verb, type VerbForm, verbNamed, verbs } from "./verbs.js";

const usageWidth = 40;

export function verbHelp(verb: Verb): string {
  const lines = formsOf(verb).map(({ usage, help }) => helpRow(`galley ${verb.name}${usage && ` ${usage}`}`, help));
  const notes = (verb.notes ?? []).map((note) => `${note}\n`).join("");
  const parts = [`Usage\n${lines.join("")}`, ...optionParts(verb), notes];
  return `galley ${verb.name}: ${verb.help}\n\n${parts.filter((part) => part !== "").join("\n")}`;
}

/** Under one heading if all forms take the same. */
function optionParts(verb: Verb): string[] {
  const forms = formsOf(verb).filter(({ options = [] }) => options.length > 0);
  const rowsOf = ({ options = [] }: VerbForm) =>
    optionSpecs
      .filter(({ name }) => options.includes(name))
      .map((option) => helpRow(flagText(option), option.help))
      .join("");
  const [first] = forms;
  if (first && forms.length === formsOf(verb).length && new Set(forms.map(rowsOf)).size === 1)
    return [`Options\n${rowsOf(first)}`];
  return forms.map((form) => `Options of galley ${verb.name} ${form.usage.split(" ", 1)}\n${rowsOf(form)}`);
}

/** The first words that a verb knows: `get`, `set` and so on. */
export function subcommandsOf(verb: Verb): string[] {
  return formsOf(verb).flatMap(({ usage }) => /^[a-z]+(?=$| )/.exec(usage) ?? []);
}

export function formsOf(verb: Verb): readonly VerbForm[] {
  return verb.forms ?? [verb];
}

/** A sentence and the forms of the verb. */
export function wrongUse(verbName: string, problem?: string): GalleyError {
  const verb = verbNamed(verbName);
  const help = verb ? verbHelp(verb).trimEnd() : "";
  return new GalleyError("usage", problem === undefined ? help : `${problem}\n\n${help}`);
}

/** For a word that is none of the verb's subcommands. */
export function unknownSubcommand(verbName: string, word: string | undefined): GalleyError {
  const verb = verbNamed(verbName);
  const known = verb ? subcommandsOf(verb) : [];
  if (word === undefined) return wrongUse(verbName, `galley ${verbName} needs one of: ${known.join(", ")}.`);
  return wrongUse(verbName, `Unknown command galley ${verbName} ${word}.${meant(nearestName(word, known))}`);
}

export function unknownVerb(word: string): GalleyError {
  const meantVerb = nearestName(
    word,
    verbs.map(({ name }) => name),
  );
  return new GalleyError("usage", `Unknown command ${word}.${meant(meantVerb) || " See galley --help."}`);
}

/** `known`: with their dashes. */
export function unknownOption(verbName: string, flag: string, known: readonly string[]): GalleyError {
  return wrongUse(verbName, `Unknown option ${flag}.${meant(nearestName(flag, known))}`);
}

export function helpRow(left: string, help: string): string {
  return left.length < usageWidth + 4
    ? `  ${left.padEnd(usageWidth + 3)} ${help}\n`
    : `  ${left}\n  ${"".padEnd(usageWidth + 3)} ${help}\n`;
}

function meant(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean ${name}?`;
}
