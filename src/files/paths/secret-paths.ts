// Which files may hold secrets, by the patterns of the setting `secrets.paths`. `*` and `?` stay within a name and `**`
// does not; a pattern cannot exclude a file again, because a project may add to the list. The pattern is run as a set of
// states over the text: no pattern takes longer than its length times the length of the text.

import { GalleyError } from "../../base/errors.js";
import { foldPath } from "./resolve-path.js";

export const defaultSecretPaths: readonly string[] = [".env*", "*.pem", "id_*"];

/** A pattern without `/` is about the name; one with it is about the end of the path, or all of it from `/` or `~`. */
export function secretTest(patterns: readonly string[], home: string): (path: string) => boolean {
  for (const pattern of patterns)
    if (/[{}[\]]/.test(pattern))
      throw new GalleyError("invalid_config", `secrets.paths: ${pattern} is not usable: only * and ? are wildcards.`);
  let compiled: readonly ReturnType<typeof compile>[] | undefined;
  return (path) => {
    compiled ??= patterns.map((pattern) => compile(pattern, home));
    const name = foldPath(path.slice(path.lastIndexOf("/") + 1));
    return compiled.some(({ isPath, tokens, beginning, ending }) => {
      const text = isPath ? foldPath(path) : name;
      // The first and last characters decide most cases.
      return text.startsWith(beginning) && text.endsWith(ending) && matches(tokens, text);
    });
  };
}

function compile(pattern: string, home: string) {
  const isPath = pattern.includes("/");
  const rooted = pattern.startsWith("~/") ? home + pattern.slice(1) : pattern;
  const tokens = foldPath(isPath && !rooted.startsWith("/") ? `**/${rooted}` : rooted).match(/\*{2,}|./gsu) ?? [];
  const first = tokens.findIndex(isWildcard);
  return {
    isPath,
    tokens,
    beginning: tokens.slice(0, first < 0 ? undefined : first).join(""),
    ending: tokens.slice(tokens.findLastIndex(isWildcard) + 1).join(""),
  };
}

function isWildcard(token: string): boolean {
  return token === "?" || token.startsWith("*");
}

function matches(tokens: readonly string[], text: string): boolean {
  let states = reach(tokens, [0]);
  for (const character of text) {
    const next: number[] = [];
    for (const state of states) {
      const token = tokens[state];
      if (token === undefined) continue;
      if (token.startsWith("**") || (token === "*" && character !== "/")) next.push(state);
      else if (token === character || (token === "?" && character !== "/")) next.push(state + 1);
    }
    if (next.length === 0) return false;
    states = reach(tokens, next);
  }
  return states.has(tokens.length);
}

/** Stars may stand for nothing. */
function reach(tokens: readonly string[], states: readonly number[]): Set<number> {
  const reached = new Set<number>();
  for (let state of states)
    for (; !reached.has(state); state++) {
      reached.add(state);
      if (!tokens[state]?.startsWith("*")) break;
    }
  return reached;
}
