// Directories for tests, all with one prefix. Each is removed by itself; temporary-root.ts fails a run that leaves one.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const ofFile: string[] = [];

/** A new directory, canonical. It goes with the test that made it, or with the test file where no test runs. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "galley-test-")));
  try {
    onTestFinished(() => remove(directory));
  } catch {
    ofFile.push(directory); // at the top of a file, or in `beforeAll`
  }
  return directory;
}

/** Called after the last test of each file. */
export function removeDirectoriesOfFile(): void {
  for (const directory of ofFile.splice(0)) remove(directory);
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
