// Removes a file that still has the content that the caller saw: opens its directory, compares the content, and only
// then unlinks the name.

import { basename, dirname, join } from "node:path";
import { cannotWrite, fileChanged, ifAbsent, writeFailure } from "../refusals.js";
import type { RemoveRequest, WriteTarget } from "../workspace.js";
import type { Disk } from "./disk.js";
import { enterDirectory } from "./enter-directory.js";

export async function removeFile(disk: Disk, target: WriteTarget, { expected }: RemoveRequest): Promise<void> {
  if (target.kind === "absent") throw fileChanged(target.displayPath);
  const entered = await enterDirectory(disk, dirname(target.path), target.displayPath).catch((error: unknown) => {
    throw writeFailure(target.displayPath, error);
  });
  try {
    const path = join(entered.directory.path, basename(target.path));
    const stat = await disk.lstat(path).catch(ifAbsent);
    if (stat?.kind !== "file") throw fileChanged(target.displayPath);
    if ((stat.mode & 0o222) === 0) throw cannotWrite(target.displayPath, "it is read-only");
    if ((await disk.digest(path, stat.identity)) !== expected) throw fileChanged(target.displayPath);
    await disk.unlink(path);
    await entered.fsync();
  } catch (error) {
    throw writeFailure(target.displayPath, error);
  } finally {
    await entered.leave();
  }
}
