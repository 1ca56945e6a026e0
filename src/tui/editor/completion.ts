// Completion: commands after a slash, file names after an at sign, paths with Tab. It asks for names and reads nothing itself.

import {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  fuzzyMatch,
} from "@earendil-works/pi-tui";
import { writtenOut } from "../../base/written-out.js";

export interface CompletionSource {
  /** Without their slash. */
  commands(): readonly { readonly name: string; readonly help: string }[];
  /** What may follow a command; undefined where that is not known. */
  argumentsOf(command: string): readonly string[] | undefined;
  fileNames(signal: AbortSignal): Promise<readonly string[]>;
  listDirectory(path: string): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[]>;
}

const maxShown = 50;

/** What is being typed before the cursor, and what it would be completed with. */
export type Wanted =
  | { readonly kind: "command"; readonly typed: string }
  | { readonly kind: "argument"; readonly command: string; readonly typed: string }
  | { readonly kind: "file"; readonly typed: string }
  | { readonly kind: "path"; readonly typed: string };

export function wantedBefore(lines: readonly string[], cursor: { line: number; column: number }, isTab: boolean) {
  const before = (lines[cursor.line] ?? "").slice(0, cursor.column);
  const isFirst = cursor.line === 0;
  const [, command] = (isFirst && /^\/(\S*)$/.exec(before)) || [];
  if (command !== undefined && !isTab) return { kind: "command", typed: before } as const;
  const [, name, argument] = (isFirst && /^\/(\S+) +(\S*)$/.exec(before)) || [];
  if (name !== undefined && argument !== undefined)
    return isTab ? pathOf(argument) : ({ kind: "argument", command: name, typed: argument } as const);
  const [file] = /(?<=^|\s)@(?:"[^"]*|[^\s"]*)$/.exec(before) ?? [];
  if (file !== undefined) return { kind: "file", typed: file } as const;
  return isTab ? pathOf(/[^\s]*$/.exec(before)?.[0] ?? "") : undefined;
}

function pathOf(typed: string): Wanted {
  return { kind: "path", typed };
}

export function createCompletion(source: CompletionSource): AutocompleteProvider {
  return {
    async getSuggestions(lines, line, column, { signal, force = false }) {
      const wanted = wantedBefore(lines, { line, column }, force);
      return wanted ? suggest(source, wanted, signal) : null;
    },
    applyCompletion(lines, line, column, item, prefix) {
      const text = lines[line] ?? "";
      // The list may be older than the text: then the text wins.
      const typed = prefix.startsWith("/") ? text.slice(0, column) : prefix;
      const isOld = !text.slice(0, column).endsWith(typed) || (prefix.startsWith("/") && !item.value.startsWith(typed));
      if (isOld) return { lines, cursorLine: line, cursorCol: column };
      const before = text.slice(0, column - typed.length) + item.value;
      const changed = lines.map((each, index) => (index === line ? before + text.slice(column) : each));
      return { lines: changed, cursorLine: line, cursorCol: before.length };
    },
  };
}

async function suggest(
  source: CompletionSource,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<AutocompleteSuggestions | null> {
  const { typed } = wanted;
  const items = await itemsFor(source, wanted, signal);
  return items.length === 0 ? null : { items: items.slice(0, maxShown), prefix: typed };
}

async function itemsFor(source: CompletionSource, wanted: Wanted, signal: AbortSignal): Promise<AutocompleteItem[]> {
  switch (wanted.kind) {
    case "command":
      return source
        .commands()
        .filter(({ name }) => `/${name}`.startsWith(wanted.typed))
        .map(({ name, help }) => ({ value: `/${name}`, label: name, description: help }));
    case "argument": {
      const values = source.argumentsOf(wanted.command) ?? [];
      // What is typed whole is meant: Enter must not make another of it.
      if (values.includes(wanted.typed)) return [];
      return values
        .filter((value) => value.startsWith(wanted.typed))
        .map((value) => ({ value, label: writtenOut(value) }));
    }
    case "file":
      return fileItems(await source.fileNames(signal), wanted.typed.replace(/^@"?/, ""));
    case "path":
      return pathItems(source, wanted.typed);
  }
}

/** The best first: names that begin so, then names that hold it, then those whose letters come in this order. */
export function fileItems(names: readonly string[], query: string): AutocompleteItem[] {
  const found: { name: string; rank: number; score: number }[] = [];
  for (const name of names) {
    const { matches, score } = fuzzyMatch(query, name);
    if (!matches) continue;
    const base = name.slice(name.lastIndexOf("/") + 1);
    const rank = base.startsWith(query) ? 0 : name.includes(query) ? 1 : 2;
    found.push({ name, rank, score: rank < 2 ? name.length : score });
  }
  return found
    .sort((a, b) => a.rank - b.rank || a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, maxShown)
    .map(({ name }) => ({ value: /\s/.test(name) ? `@"${name}" ` : `@${name} `, label: writtenOut(name) }));
}

async function pathItems(source: CompletionSource, typed: string): Promise<AutocompleteItem[]> {
  const slash = typed.lastIndexOf("/");
  const [directory, start] = [typed.slice(0, slash + 1), typed.slice(slash + 1)];
  const entries = await source.listDirectory(directory === "" ? "." : directory);
  return entries
    .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
    .sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1))
    .map(({ name, isDirectory }) => {
      const path = `${directory}${name}${isDirectory ? "/" : ""}`;
      return { value: path, label: writtenOut(`${name}${isDirectory ? "/" : ""}`) };
    });
}
