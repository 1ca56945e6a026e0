// The words of `galley exec`: its own options, then `--`, then the program as it is.

import { GalleyError } from "../../base/errors.js";
import { parseAssignment } from "../../config/settings/assignment.js";
import { type CommandLine, parseArguments, refuseForeign } from "../arguments.js";
import { accessOf } from "../session-options.js";
import { wrongUse } from "../verb-help.js";
import { execOptions } from "../verbs.js";

export interface ExecWords extends ReturnType<typeof accessOf> {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string | undefined;
  readonly sessionDir: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly assignments: ReturnType<typeof parseAssignment>[];
  readonly isJson: boolean;
  readonly hasExitCode: boolean;
}

/** Throws `usage`. */
export function parseExecWords(words: readonly string[]): ExecWords {
  const end = words.indexOf("--");
  if (end === -1) throw wrongUse("exec", "Put -- before the program: galley exec -- npm test");
  const [program = "", ...args] = words.slice(end + 1);
  if (program === "") throw wrongUse("exec", "Name the program to run, after --.");
  if ([program, ...args].some((word) => word.includes("\0")))
    throw new GalleyError("usage", "The program and its arguments must not contain NUL characters.");
  const own = words.slice(0, end);
  const { rest, timeoutMs } = takeTimeout(own.filter((word) => word !== "--json"));
  const line = parseArguments(rest);
  refuseForeign(line);
  const other = [...line.options.keys()].find((name) => !execOptions.includes(name));
  if (other !== undefined) throw wrongUse("exec", `galley exec does not take --${other}.`);
  if (line.words.length > 0)
    throw wrongUse("exec", `Put -- before the program: galley exec -- ${line.words.join(" ")}`);
  return {
    program,
    args,
    timeoutMs,
    isJson: own.includes("--json"),
    hasExitCode: line.options.has("exit-code"),
    ...accessOf(line),
    directory: valueIn(line, "cwd"),
    sessionDir: valueIn(line, "session-dir"),
    assignments: (line.options.get("set") ?? []).map(parseAssignment),
  };
}

function valueIn({ options }: CommandLine, name: string): string | undefined {
  return options.get(name)?.[0];
}

const maxSeconds = 24 * 3600;

/** `--timeout S` or `--timeout=S`: of this verb alone. */
function takeTimeout(words: readonly string[]): { rest: string[]; timeoutMs: number | undefined } {
  const at = words.findIndex((word) => word === "--timeout" || word.startsWith("--timeout="));
  if (at === -1) return { rest: [...words], timeoutMs: undefined };
  const [, inline] = (words[at] ?? "").split("=", 2);
  const given = inline ?? words[at + 1] ?? "";
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (seconds <= 0 || seconds > maxSeconds)
    throw new GalleyError("usage", `--timeout must be seconds from 0.001 to ${maxSeconds}, not "${given}".`);
  return { rest: words.toSpliced(at, inline === undefined ? 2 : 1), timeoutMs: seconds * 1000 };
}
