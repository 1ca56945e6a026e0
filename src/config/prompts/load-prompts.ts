// Reads the templates, skills and rules of a session, and a project's system prompt. A file
// that cannot be used is one line in the log and does not affect the others. Bounded in number.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import { loadRules, type Rules } from "../../session/rules/load-rules.js";
import { parseSkill, type Skill } from "./skill.js";
import { type PromptTemplate, parseTemplate } from "./template.js";
import { cleanText, readTextFile, type TextFile, type TextReader } from "./text-files.js";
import type { TextSource } from "./text-sources.js";

/** Of one kind. */
export const maxTexts = 256;

export function loadTemplates(sources: readonly TextSource[], reader: TextReader): Promise<PromptTemplate[]> {
  return parseEach(sources, reader, parseTemplate);
}

export function loadSkills(sources: readonly TextSource[], reader: TextReader): Promise<Skill[]> {
  return parseEach(sources, reader, parseSkill);
}

export function loadRuleFiles(sources: readonly TextSource[], reader: TextReader): Promise<Rules> {
  const files = [...readEach(sources, reader)];
  return loadRules({ directories: [""], readDirectory: () => files, log: reader.log });
}

/** The nearest that exists; without one, the user's own file applies. */
export function loadSystem(sources: readonly TextSource[], reader: TextReader): { replaced?: string; added?: string } {
  const nearest = (ending: RegExp) => {
    for (const source of sources.filter(({ path }) => ending.test(path))) {
      const file = readTextFile(source, reader);
      const text = file && cleanText(file.text, file.path, reader.log);
      if (text) return text;
    }
    return undefined;
  };
  const replaced = nearest(/[\\/]SYSTEM\.md$/);
  const added = nearest(/[\\/]APPEND_SYSTEM\.md$/);
  return { replaced, added };
}

async function parseEach<Value>(
  sources: readonly TextSource[],
  reader: TextReader,
  parse: (file: TextFile, log: Log) => Promise<Value>,
): Promise<Value[]> {
  const parsed: Value[] = [];
  for (const file of readEach(sources, reader)) {
    try {
      parsed.push(await parse(file, reader.log));
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error;
      reader.log.warn(`${printable(file.path)} ${messageOf(error)}; it is not used`);
    }
  }
  return parsed;
}

function* readEach(sources: readonly TextSource[], reader: TextReader): Generator<TextFile> {
  let read = 0;
  for (const source of sources) {
    const file = readTextFile(source, reader);
    if (!file) continue;
    if (++read > maxTexts) {
      reader.log.warn(`${printable(source.path)} and later ones are not used: there are more than ${maxTexts}`);
      return;
    }
    yield file;
  }
}
