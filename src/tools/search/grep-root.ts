// One search root of a grep call: where to search, and which of the files below it are meant.

import type { Target } from "../../files/workspace.js";
import { compileGlob } from "./glob.js";
import type { FirstMatches } from "./grep-first.js";
import type { GrepQuery } from "./grep-query.js";
import { mentionedIn } from "./ripgrep.js";
import type { SearchRoot } from "./search-roots.js";

export interface GrepRoot {
  readonly target: Target;
  readonly mentioned: readonly string[];
  /** What the name of every wanted file looks like, as far as ripgrep can tell. */
  readonly nameGlob: string | undefined;
  /** By the path below the directory. */
  accepts(relativePath: string): boolean;
}

/** What a search of one root needs to know, and where its matches go. */
export interface GrepScan {
  readonly query: GrepQuery;
  readonly first: FirstMatches;
  readonly isOnly: boolean;
  readonly signal: AbortSignal | undefined;
}

/** `filterGlob` is the call's own, for all roots. */
export async function prepareGrepRoot({ target, glob }: SearchRoot, filterGlob: string | undefined): Promise<GrepRoot> {
  const isMeant = glob === undefined ? () => true : await compileGlob(glob, { anyDepth: false });
  const passes = filterGlob === undefined ? () => true : await compileGlob(filterGlob, { anyDepth: true });
  const names = [glob, filterGlob].map((text) => text?.split("/").at(-1));
  return {
    target,
    mentioned: mentionedIn(glob, filterGlob),
    nameGlob: names.find((name) => name !== undefined && isPlainGlob(name)),
    accepts: (path) => isMeant(path) && passes(path),
  };
}

/** Only what both matchers read alike: stars within a name, and plain alternatives. */
function isPlainGlob(name: string): boolean {
  return /^(?:[\w.-]|\*(?!\*)|\{[\w.-]+(?:,[\w.-]+)+\})+$/.test(name);
}
