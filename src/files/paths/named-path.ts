// A path as a user names it, on the command line or in settings.

import { isAbsolute, join, resolve } from "node:path";
import { lookAt } from "../module-files.js";

/** `~` expanded, unusual spaces (copied from a title) as plain ones where only that names something. */
export function namedPath(path: string, { cwd, home }: { cwd: string; home: string }): string {
  const at = (text: string) => {
    if (/^~(?:[\\/]|$)/.test(text)) return join(home, text.slice(1));
    return isAbsolute(text) ? text : resolve(cwd, text);
  };
  const literal = at(path);
  const plain = at(path.replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " "));
  return lookAt(literal).kind === "missing" ? plain : literal;
}
