// The search without ripgrep: file after file in the order of paths, with JavaScript's regular expressions. A pattern
// that would run for ever is stopped, and no file is read beyond a limit.

import { createContext, Script } from "node:vm";
import { throwIfAborted } from "../../base/abort.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { binaryHeadBytes, isBinary } from "../../base/is-binary.js";
import type { Target } from "../../files/workspace.js";
import { toolFailure } from "../tool.js";
import type { GrepQuery } from "./grep-query.js";
import { shownLine } from "./grep-reader.js";
import type { GrepRoot, GrepScan } from "./grep-root.js";
import type { SearchDeps } from "./ripgrep.js";

const maxFileBytes = 8 * 1024 * 1024;
/** For one file. The event loop is blocked for that time. */
const maxMatchMs = 500;

export async function searchByWalking(
  { workspace }: Pick<SearchDeps, "workspace">,
  root: GrepRoot,
  { query, first, signal }: GrepScan,
): Promise<{ isPartial: boolean; isFallback: true }> {
  if (query.type !== undefined) throw toolFailure("type needs ripgrep, which is not available here. Use glob instead.");
  const pattern = compile(query);
  const bounded = createBounded();
  const files = root.target.kind === "file" ? [root.target] : workspace.walk(root.target, walkOptions());
  const wanted = query.offset + query.limit + 1;
  let isPartial = !query.gitignore;
  let found = 0;
  for await (const target of files) {
    throwIfAborted(signal);
    // Sorted: what comes later is not among the first.
    if (found >= wanted) break;
    const text = await textOf(target);
    const matched =
      text === undefined ? [] : bounded(() => matchedLines(text, pattern, { wanted, multiline: query.multiline }));
    if (text === undefined || matched.length === 0 || !first.wants(target.path)) continue;
    const file = first.open(target.path, target.displayPath);
    for (const line of withContext(text, matched, query)) first.addLine(file, line);
    first.close(file);
    found += matched.length;
  }
  return { isPartial, isFallback: true };

  function walkOptions() {
    const onUnreadable = () => {
      isPartial = true;
    };
    return { signal, include: root.accepts, mentioned: root.mentioned, onUnreadable };
  }

  /** Undefined for what is binary or must not be read. */
  async function textOf(target: Target): Promise<string | undefined> {
    try {
      const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: maxFileBytes, signal });
      if (isBinary(bytes.subarray(0, binaryHeadBytes))) return undefined;
      isPartial ||= isTruncated;
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    } catch (error) {
      throwIfAborted(signal);
      if (!(error instanceof GalleyError)) throw error;
      isPartial = true;
      return undefined;
    }
  }
}

/** Unicode mode where the pattern allows it; without it more escapes are forgiven. */
function compile({ pattern, ignoreCase, multiline }: GrepQuery): RegExp {
  const flags = `${ignoreCase ? "i" : ""}${multiline ? "gm" : ""}`;
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    try {
      return new RegExp(pattern, flags);
    } catch (error) {
      throw toolFailure(messageOf(error), error);
    }
  }
}

/** The numbers of the first `wanted` lines that match, counted from 1. */
function matchedLines(
  text: string,
  pattern: RegExp,
  { wanted, multiline }: { wanted: number; multiline: boolean },
): number[] {
  const numbers: number[] = [];
  if (!multiline) {
    const lines = linesOf(text);
    for (let index = 0; index < lines.length && numbers.length < wanted; index++)
      if (pattern.test(withoutReturn(lines[index] ?? ""))) numbers.push(index + 1);
    return numbers;
  }
  let line = 1;
  let counted = 0;
  for (const match of text.matchAll(pattern)) {
    if (numbers.length >= wanted) break;
    line += feeds(text, counted, match.index);
    counted = match.index;
    const last = line + feeds(text, counted, match.index + Math.max(match[0].length - 1, 0));
    for (let number = Math.max(line, (numbers.at(-1) ?? 0) + 1); number <= last; number++) numbers.push(number);
  }
  return numbers.slice(0, wanted);
}

function* withContext(text: string, matched: readonly number[], { pre, post }: GrepQuery) {
  const lines = linesOf(text);
  let next = 1;
  for (const [index, number] of matched.entries()) {
    const end = Math.min(number + post, (matched[index + 1] ?? Number.POSITIVE_INFINITY) - 1, lines.length);
    for (next = Math.max(next, number - pre); next <= end; next++)
      yield { number: next, isMatch: next === number, ...shownLine(lines[next - 1] ?? "") };
  }
}

/** Runs a task in a frame that can be interrupted: a regular expression cannot be asked to stop. */
function createBounded(): <T>(task: () => T) => T {
  const frame: { run: () => void } = { run: () => {} };
  const context = createContext(frame); // once, because it takes longer than most searches
  return <T>(task: () => T): T => {
    let result: { value: T } | undefined;
    frame.run = () => {
      result = { value: task() };
    };
    try {
      runScript.runInContext(context, { timeout: maxMatchMs });
    } catch (error) {
      if (systemCode(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw toolFailure("Pattern takes too long to match; make it simpler.", error);
    }
    if (result === undefined) throw new Error("The search task did not run.");
    return result.value;
  };
}

const runScript = new Script("run()");

/** The end of the last line begins no other. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function feeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
