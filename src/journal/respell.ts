// Names that a directory takes for one, though they are written differently: `A.ts` and `a.ts` on many disks, two
// encodings of the same accent on some. Nothing is known about a directory until it is asked.

import { basename, dirname, join } from "node:path";
import { maxListed } from "../files/disk/disk.js";
import { stagedName } from "../files/disk/temp-names.js";
import { ignoring, refusal } from "./failures.js";
import type { SerialStepContext } from "./step-context.js";

/** Is `to` only another spelling of `from`, which has the same identity? Not when both names are there. */
export async function isRespelled({ disk, pins }: SerialStepContext, from: string, to: string): Promise<boolean> {
  if (fold(from) !== fold(to)) return false; // two names of one file
  const entries = await disk.list(dirname(await pins.of(to)), maxListed);
  return !entries.some(({ name }) => name === basename(to));
}

interface Appearing {
  readonly path: string;
  readonly shownPath: string;
  readonly staged: string;
  readonly index: number;
}

/**
 * Two files that appear in one directory must not be the same one there. Asked with the staged file of the first: is it
 * also found under the spelling of the second?
 */
export async function refuseFoldedTogether(
  { disk, pins }: SerialStepContext,
  files: readonly Appearing[],
  txid: string,
): Promise<void> {
  const seen = new Map<string, Appearing>();
  for (const file of files) {
    const key = fold(file.path);
    const other = seen.get(key);
    seen.set(key, file);
    if (!other) continue;
    const spelling = stagedName(basename(file.path), txid, other.index);
    // Of a name that is too long the difference was cut off: then any other spelling has to do.
    const isCut = spelling === basename(other.staged);
    const respelled = join(dirname(other.path), isCut ? spelling.toUpperCase() : spelling);
    if (await disk.lstat(await pins.of(respelled)).catch(ignoring("ENOENT")))
      throw refusal(file.shownPath, `here it is the same name as ${other.shownPath}`);
  }
}

/** Equal for all names that some disk takes for the same. */
function fold(path: string): string {
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFD");
}
