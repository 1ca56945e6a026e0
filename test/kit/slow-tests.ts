// The test files that `npm run test:quick` leaves out. What it keeps is beside the source, starts no program and needs no
// built one. set-up-file.ts holds the kept ones to that: there a program that is started is an error.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What starts programs by its subject, or tries many inputs. */
const left = /^src\/processes\/|\.(property|fault)\.test\.ts$/;

/** What the text of a file names that starts programs: Node's module, our folder, the parsers. Or it says so itself. */
const starter =
  /"node:child_process"|"esbuild"|"[./]+(?:src)?\/processes\/(?!processes\.js|network\/)|ast_(edit|grep)|"[./\w]+\/(ast-edit|ast-grep|parsers)\.js"|^\/\/ Starts programs\.$/m;

export function slowTests(root: string): string[] {
  const known = new Map<string, boolean>();
  const startsPrograms = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false); // while its imports are looked at: they may form a ring
    const text = readFileSync(join(root, file), "utf8");
    const found = starter.test(text) || helpersOf(root, file, text).some(startsPrograms);
    known.set(file, found);
    return found;
  };
  const slow = testsBelow(root, "src").filter((file) => left.test(file) || startsPrograms(file));
  return ["test/**", ...slow];
}

/** A test has one where it imports runs.ts. */
export function testsWithoutLongForm(root: string): string[] {
  const all = ["src", "test"].flatMap((folder) => testsBelow(root, folder));
  return all.filter((file) => !readFileSync(join(root, file), "utf8").includes('/kit/runs.js";'));
}

function testsBelow(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name));
}

/** The helpers of tests that a file imports. Code under test is given its programs, or is given none. */
function helpersOf(root: string, file: string, text: string): string[] {
  return [...text.matchAll(/from "(\.[^"]+)"/g)]
    .map(([, name = ""]) => join(dirname(file), name))
    .map((path) => (existsSync(join(root, path)) ? path : path.replace(/js$/, "ts")))
    .filter((path) => /^(test|bench)\/|\.test-kit\.ts$/.test(path) && existsSync(join(root, path)));
}
