// Different spellings that a directory takes for one name: `A.ts` and `a.ts` on many file systems, two encodings of an
// accented letter on some. Only a test in the directory itself can tell.

import { basename, dirname, join } from "node:path";
import { maxListed } from "../files/disk/disk.js";
import { stagedName } from "../files/disk/temp-names.js";
import { ignoring, refusal } from "./apply-failures.js";
import type { SerialStepContext } from "./step-context.js";

/** Is `to` only another spelling of `from`, which has the same identity? Not when both names are there. */
export async function isRespelled({ disk, pins }: SerialStepContext, from: string, to: string): Promise<boolean> {
  if (fold(from) !== fold(to)) return false; // two hard links to one file
  const entries = await disk.list(dirname(await pins.of(to)), maxListed);
  return !entries.some(({ name }) => name === basename(to));
}

interface CreatedFile {
  readonly path: string;
  readonly shownPath: string;
  readonly staged: string;
  readonly index: number;
}

/**
 * Two new files in one directory must not have the same name there. The test: can the temporary file of the first also be
 * found under the spelling of the second?
 */
export async function refuseFoldedTogether(
  { disk, pins }: SerialStepContext,
  files: readonly CreatedFile[],
  txid: string,
): Promise<void> {
  const seen = new Map<string, CreatedFile>();
  for (const file of files) {
    const key = fold(file.path);
    const other = seen.get(key);
    seen.set(key, file);
    if (!other) continue;
    const spelling = stagedName(basename(file.path), txid, other.index);
    // A long name is cut, perhaps before the difference. Then any other spelling will do.
    const isCut = spelling === basename(other.staged);
    const respelled = join(dirname(other.staged), isCut ? spelling.toUpperCase() : spelling);
    if (await disk.lstat(await pins.of(respelled)).catch(ignoring("ENOENT")))
      throw refusal(file.shownPath, `here it is the same name as ${other.shownPath}`);
  }
}

/** Equal for all names that some file system takes for the same. */
function fold(path: string): string {
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFD");
}
