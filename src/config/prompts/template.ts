// Prompt templates: a file that stands for a prompt. `/name words` becomes its text, with the words inserted at its
// placeholders. Inserted once: what a word contains is never taken for another placeholder.

import { basename } from "node:path";
import { GalleyError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import { readFrontMatter, unfit } from "../../session/rules/front-matter.js";
import { cleanText, type TextFile } from "./text-files.js";
import type { TextSource } from "./text-sources.js";

export interface PromptTemplate {
  /** What is typed after the slash: one word. */
  readonly name: string;
  readonly description?: string;
  /** What the words after the name are, for people: `<file> [reason]`. */
  readonly argumentHint?: string;
  readonly content: string;
  readonly place?: TextSource;
}

/** The longest prompt: a few words inserted many times could ask for gigabytes. */
export const maxExpandedLength = 1024 * 1024;
const maxDescription = 1024;

/** Throws `invalid_config` with the end of a sentence that begins with the file. */
export async function parseTemplate(file: TextFile, log: Log): Promise<PromptTemplate> {
  const { path, provider, level } = file;
  const name = basename(path).replace(/\.md$/, "");
  if (!isTypable(name)) throw unfit("has a name that cannot be typed as one word");
  const { fields, body } = await readFrontMatter(quoteHint(cleanText(file.text, path, log)));
  if (body === "") throw unfit("says nothing");
  const said = (key: string) => {
    const value = fields.get(key);
    return typeof value === "string" && value.trim() !== "" ? oneLine(value) : undefined;
  };
  const description = said("description") ?? oneLine(body.split("\n", 1)[0] ?? "");
  const argumentHint = said("argument-hint") ?? said("argumentHint");
  return {
    name,
    description: description.slice(0, maxDescription),
    ...(argumentHint === undefined ? {} : { argumentHint: argumentHint.slice(0, maxDescription) }),
    content: body,
    place: { path, provider, level },
  };
}

export function isTypable(name: string): boolean {
  return /^[^\s/]\S*$/.test(name) && printable(name) === name;
}

/** Throws `invalid_argument` where the words make it too long. Words without a placeholder are added at the end. */
export function expandTemplate({ name, content }: PromptTemplate, words: string): string {
  const all = words.trim();
  const each = splitWords(all);
  let hasPlace = false;
  let left = maxExpandedLength - content.length;
  const expanded = content.replace(
    place,
    (_found, index?: string, whole?: string, from?: string, count?: string, either?: string, otherwise?: string) => {
      hasPlace = true;
      const named = (which: string) => (/^\d/.test(which) ? (each[Number(which) - 1] ?? "") : all);
      const start = Math.max(Number(from ?? 1), 1) - 1;
      const put =
        from !== undefined
          ? each.slice(start, count === undefined ? undefined : start + Number(count)).join(" ")
          : either !== undefined
            ? named(either) || (otherwise ?? "")
            : named(index ?? whole ?? "");
      left -= put.length;
      if (left < 0)
        throw new GalleyError("invalid_argument", `/${name} with these words is too long; use fewer of them.`);
      return put;
    },
  );
  return hasPlace || all === "" ? expanded : `${expanded}\n\n${all}`;
}

/** `$1`, `$@` or `$ARGUMENTS`, `${@:2}` or `${@:2:1}`, `${1:-otherwise}`. */
const place = /\$(?:(\d{1,3})|(@|ARGUMENTS\b)|\{@:(\d{1,3})(?::(\d{1,3}))?\}|\{(\d{1,3}|@|ARGUMENTS):-([^}]*)\})/g;

/** At blanks. A quote groups words only where it begins and ends one, so that `don't` stays a word. */
export function splitWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|\S+/g)].map(
    ([word, double, single]) => double ?? single ?? word,
  );
}

/** `argument-hint: [a] [b]` is what users write, and is no YAML. */
function quoteHint(text: string): string {
  const end = /^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/.exec(text)?.[0].length ?? 0;
  const head = text
    .slice(0, end)
    .replace(
      /^(argument-?hint:[ \t]*)([[<{].*)$/gim,
      (_line, key: string, hint: string) => `${key}'${hint.trim().replaceAll("'", "''")}'`,
    );
  return head + text.slice(end);
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
