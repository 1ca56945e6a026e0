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
  const below = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).map((name) => join("src", name));
  const slow = below.filter((file) => file.endsWith(".test.ts") && (left.test(file) || startsPrograms(file)));
  return ["test/**", ...slow];
}

/** The helpers of tests that a file imports. Code under test is given its programs, or is given none. */
function helpersOf(root: string, file: string, text: string): string[] {
  return [...text.matchAll(/from "(\.[^"]+)"/g)]
    .map(([, name = ""]) => join(dirname(file), name))
    .map((path) => (existsSync(join(root, path)) ? path : path.replace(/js$/, "ts")))
    .filter((path) => /^(test|bench)\/|\.test-kit\.ts$/.test(path) && existsSync(join(root, path)));
}
