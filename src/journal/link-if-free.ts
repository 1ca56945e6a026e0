// Gives a file or a link another name, which must be free.

import { systemCode } from "../base/errors.js";
import { ForeignChange, ignoring, noLinkCodes } from "./apply-failures.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

export async function linkIfFree(
  { disk }: Pick<SerialStepContext, "disk">,
  { from, to, op }: { from: string; to: string; op: StoredOp },
): Promise<void> {
  try {
    return await disk.link(from, to);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw new ForeignChange(op.shownPath);
    ignoring(...noLinkCodes)(error);
  }
  // This file system has no hard links. The check and the rename leave a short window.
  if (await disk.lstat(to).catch(ignoring("ENOENT"))) throw new ForeignChange(op.shownPath);
  await disk.rename(from, to);
}
