// The files beside a session file that belong to it: its artifacts, and the images of a session outside the agent
// directory. They are recognized by name: the directory may be the user's own folder that happens to have the session's
// name, and other files in it are left alone.

import { promises as fs } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { artifactDirectory } from "../session-paths.js";
import { blobPrefix } from "../stored-form.js";
import { type BlobStore, HashFinder } from "./blobs.js";
import { draftPath } from "./create-file.js";
import { writeWhole } from "./write-whole.js";

/** Moves the artifacts to another session file. Returns how to undo that; a failure has undone it already. */
export async function moveArtifacts(
  from: string,
  to: string,
  ensureDirectory: (path: string) => void,
): Promise<() => Promise<void>> {
  const [source, target] = [artifactDirectory(from), artifactDirectory(to)];
  const moved: string[] = [];
  const undo = async () => {
    if (moved.length > 0) ensureDirectory(source);
    for (const name of moved) await moveFile(join(target, name), join(source, name));
    await removeEmpty(target);
  };
  try {
    const names = (await namesIn(source)).filter(isArtifact);
    if (names.length > 0) ensureDirectory(target);
    for (const name of names) {
      await moveFile(join(source, name), join(target, name));
      moved.push(name);
    }
  } catch (error) {
    await undo();
    throw error;
  }
  await removeEmpty(source);
  return undo;
}

/** Copies the images that a file names to another blob store. A missing one is skipped. */
export async function copyNamedBlobs(file: AsyncIterable<Buffer>, from: BlobStore, to: BlobStore): Promise<void> {
  const finder = new HashFinder();
  for await (const chunk of file) finder.push(chunk);
  for (const hash of finder.named) {
    const bytes = await from.get(`${blobPrefix}${hash}`);
    if (bytes) await to.put(bytes);
  }
}

/** All of them, with the saved tail, the backups of older versions and the draft. */
export async function removeCompanionFiles(sessionFile: string): Promise<void> {
  const [directory, name] = [dirname(sessionFile), basename(sessionFile)];
  const artifacts = artifactDirectory(sessionFile);
  await removeAll(artifacts, isArtifact);
  await removeBlobs(sessionFile);
  await removeEmpty(artifacts);
  await removeAll(directory, (other) => other.startsWith(name) && isPutAside(other.slice(name.length)));
  await fs.rm(draftPath(sessionFile), { force: true });
}

/** The images that are kept for this file alone. */
export async function removeBlobs(sessionFile: string): Promise<void> {
  const blobs = join(artifactDirectory(sessionFile), "blobs");
  await removeAll(blobs, (name) => /^[0-9a-f]{64}$/.test(name));
  await removeEmpty(blobs);
  await removeEmpty(artifactDirectory(sessionFile));
}

const isArtifact = (name: string) => /^(?:\d{1,15}\.[\w-]+\.log|[\w-]{1,128}\.plan)$/.test(name);
const isPutAside = (suffix: string) => /^\.(?:tail|v\d+\.bak(?:\.\d+)?)$/.test(suffix);

async function removeAll(directory: string, isOurs: (name: string) => boolean): Promise<void> {
  for (const name of (await namesIn(directory)).filter(isOurs)) await fs.rm(join(directory, name), { force: true });
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await fs.readdir(directory);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return [];
    throw error;
  }
}

async function moveFile(from: string, to: string): Promise<void> {
  try {
    await fs.rename(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    await writeWhole(to, await fs.readFile(from)); // another disk
    await fs.unlink(from);
  }
}

/** A directory with other files in it stays. */
async function removeEmpty(directory: string): Promise<void> {
  await fs.rmdir(directory).catch(() => {}); // not there, or not empty
}
