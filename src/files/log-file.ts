// The log file that the user asks for. A line is on the disk when the call returns, since the program may end at any
// moment; the file is not kept open, and a file that cannot be written causes one warning.

import { closeSync, constants, fstatSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { ownDirectory, withHome } from "../base/home.js";
import type { Log } from "../base/log.js";
import { sanitizeForTerminal } from "../base/sanitize.js";

const levels = ["debug", "info", "warn", "error"] as const;
type Level = (typeof levels)[number];

/** An extension may log, too. */
const maxTextLength = 16 * 1024;

export interface LogFileOptions {
  readonly cwd: string;
  /** The directory of the file if only a level is named. */
  readonly agentDir: string;
  readonly clock: Clock;
}

/** `wish`: a path, a level, or `level:path`. Every line still goes to `log` as well. */
export function withLogFile(log: Log, wish: string, { cwd, agentDir, clock }: LogFileOptions): Log {
  const { level, file } = parseWish(wish);
  const path = file === undefined ? join(ownDirectory(agentDir), "galley.log") : resolve(cwd, withHome(file));
  let isBroken = false;
  const write = (of: Level, text: string) => {
    if (isBroken || levels.indexOf(of) < levels.indexOf(level)) return;
    const clean = sanitizeForTerminal(text.slice(0, maxTextLength)).trimEnd().replaceAll("\n", "\n  ");
    try {
      append(path, `${new Date(clock.now()).toISOString()} ${process.pid} ${of} ${clean}\n`);
    } catch (error) {
      isBroken = true;
      log.warn(`GALLEY_LOG: nothing is logged to ${path}: ${messageOf(error)}`);
    }
  };
  return {
    warn(text) {
      log.warn(text);
      write("warn", text);
    },
    error(text, cause) {
      log.error(text, cause);
      const stack = cause instanceof Error ? (cause.stack ?? cause.message) : cause;
      write("error", cause === undefined ? text : `${text}\n${String(stack)}`);
    },
    trace(of, text) {
      log.trace?.(of, text);
      write(of, text);
    },
  };
}

function parseWish(wish: string): { level: Level; file: string | undefined } {
  const [, level, rest] = /^(debug|info|warn|error)(?::(.+))?$/.exec(wish) ?? [];
  return level === undefined ? { level: "debug", file: wish } : { level: level as Level, file: rest };
}

function append(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // Writing to a pipe without a reader would block.
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(file).isFile() || isStdout(file))
      throw new GalleyError("invalid_argument", "it is no file of its own");
    writeSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** stdout belongs to frames, also under another name. */
function isStdout(file: number): boolean {
  try {
    const [own, stdout] = [fstatSync(file), fstatSync(1)];
    return own.dev === stdout.dev && own.ino === stdout.ino;
  } catch {
    return false; // closed
  }
}
