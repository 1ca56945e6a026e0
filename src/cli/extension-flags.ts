// The second pass over the command line: an option that the first one did not know may be a flag of an extension, which
// is known only when the extensions are loaded. Other unknown options get the usual error.

import type { ForeignFlag } from "./arguments.js";
import { unknownText } from "./arguments.js";

interface Flag {
  readonly type: "boolean" | "string";
}

export interface ResolvedFlags {
  readonly values: ReadonlyMap<string, boolean | string>;
  /** Without the words that turned out to be values. */
  readonly words: readonly string[];
  /** In the order of the command line. */
  readonly problems: readonly string[];
}

export function resolveFlags(
  { foreign, words }: { readonly foreign: readonly ForeignFlag[]; readonly words: readonly string[] },
  flags: ReadonlyMap<string, Flag>,
): ResolvedFlags {
  const values = new Map<string, boolean | string>();
  const used = new Set<number>();
  const problems: string[] = [];
  for (const { flag, inline, nextWord } of foreign) {
    const name = flag.slice(2);
    const known = flags.get(name);
    if (!known) problems.push(unknownText(flag));
    else if (known.type === "boolean") {
      if (inline === undefined || inline === "true" || inline === "false") values.set(name, inline !== "false");
      else problems.push(`${flag} takes no value.`);
    } else {
      const value = inline ?? (nextWord === undefined ? undefined : words[nextWord]);
      if (value === undefined) problems.push(`${flag} needs a value.`);
      else values.set(name, value);
      if (inline === undefined && nextWord !== undefined) used.add(nextWord);
    }
  }
  return { values, words: words.filter((_, index) => !used.has(index)), problems };
}
