// Files of a pending action as a person names them: a path, a directory or a glob, from the directory where the person
// is, from the root of the project, or as the session named them.

import { relative, resolve, sep } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isWithin } from "../../files/paths/resolve-path.js";
import { compileGlob, hasWildcard } from "../../tools/search/glob.js";
import type { ListedAction, ListedFile } from "./listed-action.js";

export interface NamedFrom {
  readonly cwd: string;
  readonly root: string;
}

/** In the order of the action. Throws `usage` for a name that fits none of its files. */
export async function chooseFiles(
  { name, files }: Pick<ListedAction, "name" | "files">,
  given: readonly string[],
  from: NamedFrom,
): Promise<ListedFile[]> {
  const chosen = new Set<ListedFile>();
  for (const text of given) {
    const found = await filesNamed(files, text, from);
    if (found.length === 0) throw noFile(name, text, files);
    for (const file of found) chosen.add(file);
  }
  return files.filter((file) => chosen.has(file));
}

export interface NamedHunks {
  readonly path: string;
  readonly hunks: readonly number[];
}

/** `PATH:1,3` by the name that the session knows the file under. Throws `usage`. */
export async function chooseHunks(
  action: Pick<ListedAction, "name" | "files">,
  given: readonly NamedHunks[],
  from: NamedFrom,
): Promise<Record<string, number[]>> {
  const chosen = new Map<string, number[]>();
  for (const { path, hunks } of given) {
    const [file, ...others] = await filesNamed(action.files, path, from);
    if (!file) throw noFile(action.name, path, action.files);
    if (others.length > 0) throw new GalleyError("usage", `Hunks are chosen from one file: "${path}" means several.`);
    chosen.set(file.staged, [...(chosen.get(file.staged) ?? []), ...hunks]);
  }
  return Object.fromEntries(chosen);
}

/** The nearest meaning that fits some file counts. */
async function filesNamed(files: readonly ListedFile[], text: string, { cwd, root }: NamedFrom): Promise<ListedFile[]> {
  const places = [...new Set([resolve(cwd, text), resolve(root, text)])];
  for (const place of places) {
    const exact = files.filter(({ path }) => path === place);
    if (exact.length > 0) return exact;
  }
  const staged = files.filter((file) => file.staged === text || file.shown === text);
  if (staged.length > 0) return staged;
  for (const place of places) {
    const below = files.filter(({ path }) => isWithin(path, place));
    if (below.length > 0) return below;
  }
  if (!hasWildcard(text)) return [];
  const matches = await compileGlob(text, { anyDepth: true }); // `*.ts` means those of every directory
  const found = [cwd, root].map((base) =>
    files.filter(({ path }) => isWithin(path, base) && matches(relative(base, path).replaceAll(sep, "/"))),
  );
  return found.find((some) => some.length > 0) ?? [];
}

const maxNamed = 5;

function noFile(name: string, text: string, files: readonly ListedFile[]): GalleyError {
  const shown = files.slice(0, maxNamed).map((file) => file.shown);
  const more = files.length > maxNamed ? [`+${files.length - maxNamed} more`] : [];
  return new GalleyError(
    "usage",
    `No file of ${name} is meant by "${text}". It has: ${[...shown, ...more].join(", ")}.`,
  );
}
