// Skills: instructions for special tasks, each in a directory of its own. The model is told their names and purposes,
// and reads one when a task needs it; `/skill:name` adds one to the prompt at once.

import { basename, dirname } from "node:path";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import { readFrontMatter, unfit } from "../../session/rules/front-matter.js";
import { oneLine } from "./template.js";
import { cleanText, type TextFile } from "./text-files.js";
import type { TextSource } from "./text-sources.js";

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The absolute path of its `SKILL.md`. */
  readonly filePath: string;
  /** What the file says below its head. */
  readonly content: string;
  /** Only `/skill:name` uses it; the model is not told about it. */
  readonly disableModelInvocation?: boolean;
  readonly place?: TextSource;
}

const maxName = 64;
const maxDescription = 1024;

/** Throws `invalid_config` with the end of a sentence that begins with the file. */
export async function parseSkill(file: TextFile, log: Log): Promise<Skill> {
  const { path, provider, level } = file;
  const folder = basename(dirname(path));
  const warn = (problem: string) => log.warn(`${printable(path)} ${problem}`);
  const { fields, body } = await readFrontMatter(cleanText(file.text, path, log));
  const name = fields.get("name") ?? folder;
  if (typeof name !== "string" || name.length > maxName || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))
    throw unfit(`has no valid name: use at most ${maxName} of a-z, 0-9 and single hyphens`);
  if (name !== folder && basename(path) === "SKILL.md") warn(`is called ${name}, and its directory is not`);
  const description = fields.get("description");
  if (typeof description !== "string" || description.trim() === "") throw unfit("has no description");
  const said = oneLine(description);
  if (said.length > maxDescription)
    warn(`has a description of more than ${maxDescription} characters; it is cut short`);
  return {
    name,
    description: said.slice(0, maxDescription),
    filePath: path,
    content: body,
    ...(fields.get("disable-model-invocation") === true ? { disableModelInvocation: true } : {}),
    place: { path, provider, level },
  };
}

/** What `/skill:name words` stands for. */
export function expandSkill({ name, filePath, content }: Skill, words: string): string {
  // The text must not be able to close its own element and continue as the user.
  const framed = content.replace(/<(?=\/?skill\b)/gi, "&lt;");
  const skill = [
    `<skill name="${escaped(name)}" location="${escaped(filePath)}">`,
    `Paths in it are relative to ${dirname(filePath)}.`,
    "",
    framed,
    "</skill>",
  ].join("\n");
  return words.trim() === "" ? skill : `${skill}\n\n${words.trim()}`;
}

/** What a system prompt says about them; undefined where there is nothing to say. */
export function skillsText(skills: readonly Skill[]): string | undefined {
  const offered = skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  if (offered.length === 0) return undefined;
  return [
    "Skills are instructions for special tasks. When a task fits a description below, read the file of that skill before " +
      "you begin. Paths in it are relative to its directory.",
    "<available_skills>",
    ...offered.flatMap(({ name, description, filePath }) => [
      "  <skill>",
      `    <name>${escaped(name)}</name>`,
      `    <description>${escaped(description)}</description>`,
      `    <location>${escaped(filePath)}</location>`,
      "  </skill>",
    ]),
    "</available_skills>",
  ].join("\n");
}

export function escaped(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
