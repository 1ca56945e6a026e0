// A word that was meant as a command and is none would go to the model, which answers anything.

import { editDistance } from "../base/edit-distance.js";

const commands = "sessions config tools trust models pending show apply discard rebase changes undo redo recover".split(
  " ",
);

/** The command that these words were meant as. One such word alone, or with an id, is no prompt. */
export function meantCommand([word = "", id = "pa_", ...more]: readonly string[]): string | undefined {
  if (more.length > 0 || !/^(?:pa|ch)_/.test(id)) return undefined;
  return commands.find((name) => editDistance(word, name) <= (name.length > 5 ? 2 : 1));
}
