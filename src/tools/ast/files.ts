// Which files an ast tool works on, and in which language each of them is read.

import type { Target, Workspace } from "../../files/workspace.js";
import { findScope } from "../search/search-scope.js";
import { toolFailure } from "../tool.js";
import type { SearchFile } from "./begin-file.js";
import { type Language, languageNamed, languageOf, languages } from "./languages.js";
import type { Grammars, Parsers } from "./parsers.js";
import type { Prefilter } from "./ripgrep-prefilter.js";

export interface FilesRequest {
  paths: readonly string[];
  glob?: string | undefined;
  /** A name or alias; absent: each file's ending tells. */
  lang?: string | undefined;
  sieve?: Prefilter | undefined;
  signal?: AbortSignal | undefined;
}

export interface FoundFiles {
  files: SearchFile[];
  language: Language | undefined;
  /** The call names one file and nothing else. */
  isSingleFile: boolean;
  /** What was asked for and cannot be searched. */
  issues: string[];
}

/** Throws for a language that cannot be parsed here, and where that leaves no file of those that were named. */
export async function findFiles(workspace: Workspace, parsers: Parsers, request: FilesRequest): Promise<FoundFiles> {
  const whenKnown = parsers.grammars();
  whenKnown.catch(() => {}); // awaited below, unless the paths are wrong
  const language = request.lang === undefined ? undefined : requireLanguage(request.lang, await whenKnown);
  const accepts = (path: string) => {
    const own = languageOf(path);
    return language ? own === language : own !== undefined;
  };
  const listAll = async (directory: Target) => request.sieve?.list(directory, accepts);
  const scope = await findScope(workspace, { ...request, accepts, listAll });
  const grammars = await whenKnown;
  const files: SearchFile[] = [];
  const issues = new Set<string>();
  const unparsed: string[] = [];
  for (const { target, isNamed } of scope.files) {
    const own = language ?? languageOf(target.path);
    if (own === undefined) issues.add(`${target.displayPath}: parse error (unknown file ending; give lang)`);
    else if (isUsable(own, grammars)) files.push({ target, language: own });
    else if (isNamed) {
      unparsed.push(whyNot(own, grammars));
      issues.add(`${target.displayPath}: left out (${whyNot(own, grammars)})`);
    }
    // In a directory a missing grammar is not an issue; an installed but damaged one is.
    else if (own.grammar in grammars.broken) issues.add(whyNot(own, grammars));
  }
  if (files.length === 0 && unparsed.length > 0) throw toolFailure([...new Set(unparsed)].join("\n"));
  for (const path of scope.unreadable) issues.add(`${path}: parse error (the directory cannot be read)`);
  return { files, language, isSingleFile: scope.isSingleFile, issues: [...issues] };
}

/**
 * A file with several hard links is listed once, under the first name: a write replaces one name, and the others would
 * keep the old bytes. `otherNames` holds what was left out, by the path that is listed.
 */
export async function withoutOtherNames(
  workspace: Workspace,
  files: readonly SearchFile[],
): Promise<{ files: readonly SearchFile[]; otherNames: ReadonlyMap<string, readonly Target[]> }> {
  const first = new Map<string, Target>();
  const otherNames = new Map<string, Target[]>();
  const left: SearchFile[] = [];
  for (const file of files) {
    const { target } = file;
    const known = target.identity === "" ? undefined : first.get(target.identity);
    if (!known) first.set(target.identity, target);
    if (known && (await isSameFile(workspace, known, target)))
      otherNames.set(known.path, [...(otherNames.get(known.path) ?? []), target]);
    else left.push(file);
  }
  return { files: left, otherNames };
}

/** Some disks give the same identity to all files: then at least these differ. */
async function isSameFile(workspace: Workspace, one: Target, other: Target): Promise<boolean> {
  const [a, b] = await Promise.all([workspace.stat(one), workspace.stat(other)]);
  return a.sizeBytes === b.sizeBytes && a.modifiedMs === b.modifiedMs && a.mode === b.mode;
}

function requireLanguage(name: string, grammars: Grammars): Language {
  const language = languageNamed(name);
  if (language === undefined) {
    const supported = languages.filter((each) => isUsable(each, grammars)).flatMap(({ names }) => names);
    throw toolFailure(`Unsupported language '${name.slice(0, 80)}'. Supported: ${supported.join(", ")}`);
  }
  if (!isUsable(language, grammars)) throw toolFailure(whyNot(language, grammars));
  return language;
}

function isUsable({ grammar, packageName }: Language, { expandos }: Grammars): boolean {
  return packageName === undefined || grammar in expandos;
}

function whyNot({ grammar, packageName, names }: Language, { broken }: Grammars): string {
  const reason = broken[grammar];
  return reason === undefined
    ? `Grammar for '${names[0]}' is not installed (${packageName}).`
    : `Grammar for '${names[0]}' cannot be loaded (${packageName}): ${reason}`;
}
