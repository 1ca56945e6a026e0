// Directories for tests, all with one prefix. Each is removed by itself; temporary-root.ts fails a run that leaves one.

import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const ofFile: string[] = [];

/** A new directory, canonical. It goes with the test that made it, or with the test file where no test runs. */
export function temporaryDirectory(within = tmpdir()): string {
  const directory = realpathSync(mkdtempSync(join(within, "galley-test-")));
  try {
    onTestFinished(() => remove(directory));
  } catch {
    ofFile.push(directory); // at the top of a file, or in `beforeAll`
  }
  return directory;
}

/** One that an ordinary user can enter too, wherever the directory for temporary files is. */
export function openDirectory(): string {
  const open = process.env.GALLEY_TEST_OPEN;
  return temporaryDirectory(open ? join(open, "tmp") : undefined);
}

/** Called after the last test of each file. */
export function removeDirectoriesOfFile(): void {
  for (const directory of ofFile.splice(0)) remove(directory);
}

/** A program of the test may still be ending, and write meanwhile; a test may have closed a directory. */
function remove(directory: string): void {
  for (let attempt = 0; ; attempt++)
    try {
      return rmSync(directory, { recursive: true, force: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (attempt === 40 || (code !== "ENOTEMPTY" && code !== "EACCES")) throw error;
      if (code === "EACCES") openBelow(directory);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
}

function openBelow(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) openBelow(join(directory, entry.name));
}
