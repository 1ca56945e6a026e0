// One rule file. With a condition it is a stream rule, which watches what the model says; without one it is a rule
// for the prompt. Rule files come with projects: what cannot be used is left out with a warning, and nothing that is
// left out makes a rule wider than it was written.

import { basename } from "node:path";
import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { stripInvisible } from "../../base/sanitize.js";
import { printable } from "../../files/paths/resolve-path.js";
import { compileExpression, type Expression } from "./expression.js";
import { type FrontMatter, readFrontMatter, unfit } from "./front-matter.js";
import { isFileGlob, type PathTest, parseGlob, parseScope, type Scope, splitList } from "./rule-scope.js";

export interface RuleFile {
  readonly path: string;
  readonly text: string;
}

export type TtsrInterruptMode = "never" | "prose-only" | "tool-only" | "always";

interface RuleBase {
  /** The file's name without its ending. */
  readonly name: string;
  readonly path: string;
  readonly content: string;
}

export interface PromptRule extends RuleBase {
  readonly description?: string;
  readonly alwaysApply: boolean;
  readonly globs: readonly string[];
}

export interface StreamRule extends RuleBase {
  /** As announced; `triggers` holds what is tested. */
  readonly condition: readonly string[];
  readonly scope: readonly string[];
  /** Any of them is enough. */
  readonly triggers: readonly Trigger[];
  /** A tool call matches only with a path that one of them fits; prose then never does. Empty: no such demand. */
  readonly globs: readonly PathTest[];
  readonly interruptMode?: TtsrInterruptMode;
}

export interface Trigger {
  readonly expression: Expression;
  readonly scopes: readonly Scope[];
}

export type ParsedRule = { kind: "stream"; rule: StreamRule } | { kind: "prompt"; rule: PromptRule };

const maxTextLength = 64 * 1024;
const maxMembers = 32;
const interruptModes: readonly TtsrInterruptMode[] = ["never", "prose-only", "tool-only", "always"];

/** Undefined, with a warning, for a file that is no usable rule. */
export async function parseRule(file: RuleFile, log: Log): Promise<ParsedRule | undefined> {
  const path = printable(file.path);
  const warn = (problem: string) => log.warn(`The rule ${path} ${problem}.`);
  try {
    if (file.text.length > maxTextLength) throw unfit(`is longer than ${maxTextLength} characters`);
    const { text, findings } = stripInvisible(file.text);
    if (findings !== "") warn(`had invisible characters, which were removed: ${findings}`);
    const { fields, body } = await readFrontMatter(text);
    const base = { name: ruleName(path), path, content: body };
    const conditions = texts(fields, ["condition", "ttsr_trigger", "ttsrTrigger"], warn);
    if (!conditions) return { kind: "prompt", rule: promptRule(base, fields, warn) };
    return { kind: "stream", rule: await streamRule(base, { fields, conditions, warn }) };
  } catch (error) {
    warn(`${messageOf(error)}; it is not used`);
    return undefined;
  }
}

export function ruleName(path: string): string {
  return printable(basename(path).replace(/\.mdc?$/, ""));
}

type Warn = (problem: string) => void;

function promptRule(base: RuleBase, fields: FrontMatter["fields"], warn: Warn): PromptRule {
  const description = fields.get("description");
  return {
    ...base,
    ...(typeof description === "string" ? { description } : {}),
    alwaysApply: fields.get("alwaysApply") === true,
    globs: list(fields, "globs", warn) ?? [],
  };
}

async function streamRule(
  base: RuleBase,
  { fields, conditions, warn }: { fields: FrontMatter["fields"]; conditions: readonly string[]; warn: Warn },
): Promise<StreamRule> {
  const scopes = await usable(list(fields, "scope", warn) ?? ["text", "tool"], parseScope, warn);
  const expressions = await usable(
    conditions.filter((condition) => !isFileGlob(condition)),
    compileCondition,
    warn,
  );
  if (scopes.length === 0 && expressions.length > 0) throw unfit("has no valid scope");
  // Files instead of a text: any edit of them, and nothing else, whatever scope the rule has for its expressions.
  const fileScopes = conditions.filter(isFileGlob).flatMap((glob) => [`tool:edit(${glob})`, `tool:write(${glob})`]);
  const files = await usable(fileScopes, parseScope, warn);
  const triggers: Trigger[] = expressions.map(([, expression]) => ({ expression, scopes: scopes.map(second) }));
  if (files.length > 0) triggers.push({ expression: compileExpression(".*"), scopes: files.map(second) });
  if (triggers.length === 0) throw unfit("has no valid condition");
  const declaredGlobs = list(fields, "globs", warn);
  const globs = await usable(declaredGlobs ?? [], parseGlob, warn);
  if (declaredGlobs && globs.length === 0) throw unfit("has no valid glob");
  const interruptMode = readInterruptMode(fields, warn);
  return {
    ...base,
    condition: triggers.map(({ expression }) => expression.source),
    scope: [...(expressions.length > 0 ? scopes : []), ...files].map(([text]) => text),
    triggers,
    globs: globs.map(second),
    ...(interruptMode === undefined ? {} : { interruptMode }),
  };
}

function second<Value>([, value]: readonly [string, Value]): Value {
  return value;
}

async function compileCondition(source: string): Promise<Expression> {
  // In double quotes YAML turns \b into this character, and the rule would silently never match.
  if (source.includes("\b")) throw unfit("has a backspace in a condition; put it in single quotes");
  try {
    return compileExpression(source);
  } catch (error) {
    throw unfit(`has a bad condition (${messageOf(error).slice(0, 200)})`);
  }
}

function readInterruptMode(fields: FrontMatter["fields"], warn: Warn): TtsrInterruptMode | undefined {
  const value = fields.get("interruptMode");
  const mode = interruptModes.find((known) => known === value);
  if (value !== undefined && mode === undefined) warn(`has an interruptMode other than ${interruptModes.join(", ")}`);
  return mode;
}

/** Each text with what became of it; a text that nothing can be made of is left out. */
async function usable<Value>(
  members: readonly string[],
  make: (text: string) => Promise<Value>,
  warn: Warn,
): Promise<[string, Value][]> {
  if (members.length > maxMembers) warn(`has more than ${maxMembers} members in a list; the others are not used`);
  const made: [string, Value][] = [];
  for (const text of members.slice(0, maxMembers)) {
    try {
      made.push([text, await make(text)]);
    } catch (error) {
      warn(messageOf(error));
    }
  }
  return made;
}

/** Scopes and globs may also be one text, with commas. An empty list is none. */
function list(fields: FrontMatter["fields"], name: string, warn: Warn): string[] | undefined {
  const value = fields.get(name);
  if (Array.isArray(value) && value.length === 0) return undefined;
  return texts(fields, [name], warn)?.flatMap(splitList);
}

/** The first of the fields that is there, as a list. Members that are no texts, or empty, are left out. */
function texts(fields: FrontMatter["fields"], names: readonly string[], warn: Warn): string[] | undefined {
  const name = names.find((candidate) => fields.has(candidate) && fields.get(candidate) !== null);
  if (name === undefined) return undefined;
  const value = fields.get(name) ?? null;
  const members: readonly unknown[] = Array.isArray(value) ? value : [value];
  const found = members.filter((member) => typeof member === "string" && member !== "") as string[];
  if (found.length < members.length) warn(`has a ${name} with a member that is not a text`);
  return found;
}
