// The list of what a rebase does next belongs to git, which a confined command may use. The lines in it that start programs
// do not: the user's next `git rebase --continue` would run them outside of the sandbox.

import { lstatSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readGitText } from "../../files/git-directory.js";

const startsProgram = /^\s*(?:x|exec)\s/;

export function programLines(path: string): ReadonlySet<string> {
  return new Set((readGitText(path) ?? "").split("\n").filter((line) => startsProgram.test(line)));
}

/** Takes such lines out but those that were there `before`. Whether there were any. */
export function takeProgramLines(path: string, before: ReadonlySet<string>): boolean {
  const directory = dirname(path);
  if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink()) {
    rmSync(directory); // git would follow it to a list that may be anything
    return true;
  }
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const text = readGitText(path);
  const lines = text?.split("\n") ?? [];
  const kept = lines.filter((line) => !startsProgram.test(line) || before.has(line));
  if (text !== undefined && kept.length === lines.length) return false;
  rmSync(path, { recursive: true, force: true });
  if (text !== undefined) writeFileSync(path, kept.join("\n"), { flag: "wx" });
  return true;
}
