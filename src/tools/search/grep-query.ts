// What a grep call asks for, checked and with its defaults.

import { maxOutputLines } from "../output/text.js";
import { toolFailure } from "../tool.js";

const defaultLimit = 20;
const maxOffset = 10_000;
const maxContext = 50;
const maxPatternLength = 10_000;

export interface GrepQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Lines of context before and after a match. */
  readonly pre: number;
  readonly post: number;
  readonly type: string | undefined;
  readonly glob: string | undefined;
  readonly gitignore: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface GrepParams extends Pick<GrepQuery, "pattern">, Partial<Omit<GrepQuery, "pattern" | "ignoreCase">> {
  readonly path?: string;
  readonly i?: boolean;
}

export function checkQuery(params: GrepParams): GrepQuery {
  const { pattern, type } = params;
  if (pattern === "") throw toolFailure("Pattern must not be empty");
  if (pattern.length > maxPatternLength)
    throw toolFailure(`Pattern must not be longer than ${maxPatternLength} characters`);
  // A program's argument ends at a NUL.
  if (pattern.includes("\0")) throw toolFailure("Pattern must not contain a NUL character");
  if (type !== undefined && !/^[\w+-]{1,40}$/.test(type))
    throw toolFailure("Type must be a name such as ts, py or rust");
  const offset = countOf(params.offset, "Offset");
  if (offset > maxOffset) throw toolFailure(`Offset must not be more than ${maxOffset}; narrow the search`);
  return {
    pattern,
    ignoreCase: params.i ?? false,
    // A pattern that names a line feed can match nothing else.
    multiline: params.multiline ?? /\n|\\n/.test(pattern),
    pre: Math.min(countOf(params.pre, "Pre"), maxContext),
    post: Math.min(countOf(params.post, "Post"), maxContext),
    type,
    glob: params.glob || undefined,
    gitignore: params.gitignore ?? true,
    offset,
    // A limit of 0 means the default. More lines than an answer can hold are not searched for.
    limit: Math.min(countOf(params.limit, "Limit") || defaultLimit, maxOutputLines),
  };
}

/** `ignoreCase` for `i`, `context` for `pre` and `post`, `literal` for a pattern without special characters. */
export function prepareGrep(args: Record<string, unknown>): Record<string, unknown> {
  const { ignoreCase, context, literal, ...rest } = args;
  const prepared: Record<string, unknown> = { ...rest };
  if (ignoreCase !== undefined) prepared.i ??= ignoreCase;
  if (context !== undefined) {
    prepared.pre ??= context;
    prepared.post ??= context;
  }
  if ((literal === true || literal === "true") && typeof prepared.pattern === "string")
    prepared.pattern = prepared.pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return prepared;
}

function countOf(value: number | undefined, name: string): number {
  if (value === undefined) return 0;
  if (!(value >= 0)) throw toolFailure(`${name} must be a non-negative number`);
  return Math.floor(value);
}
