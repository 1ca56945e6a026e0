// Takes stderr away from the terminal while a screen is drawn on it: what modules, Node itself, native code and child
// processes write there lands in a file without a name, and its lines are handed on. Promises: nothing of it reaches the
// terminal meanwhile, and nothing is lost when the program ends.

import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";

const STDERR = 2;
const lookEveryMs = 250;
const maxReadBytes = 64 * 1024;

export interface CapturedStderr {
  /** The lines so far, and every later one. */
  onLine(listener: (line: string) => void): void;
  /** Gives the terminal back, and returns what was not handed on. */
  release(): string;
}

/** Undefined where stderr is no terminal: then it goes where the user sent it. */
export function captureStderr(): CapturedStderr | undefined {
  if (!isatty(STDERR)) return undefined;
  const source = moveStderr();
  if (source === undefined) return undefined;
  let at = 0;
  let partial = "";
  let isReleased = false;
  const waiting: string[] = [];
  let listener = (line: string): void => void waiting.push(line);
  const read = () => {
    const { text, next } = readFrom(source, at);
    at = next;
    const lines = (partial + text).split("\n");
    partial = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") listener(line);
  };
  const timer = setInterval(read, lookEveryMs);
  timer.unref();
  return {
    onLine(next) {
      listener = next;
      for (const line of waiting.splice(0)) next(line);
    },
    release() {
      if (isReleased) return "";
      isReleased = true;
      clearInterval(timer);
      listener = (line) => void waiting.push(line);
      read();
      giveBack();
      const rest = [...waiting, partial].filter((line) => line !== "");
      return rest.map((line) => `${line}\n`).join("");
    },
  };
}

/** The lowest free descriptor is given out first, so the next open after the close lands on 2. */
function moveStderr(): number | undefined {
  const directory = mkdtempSync(join(tmpdir(), "galley-stderr-"));
  const path = join(directory, "lines");
  try {
    const source = openSync(path, constants.O_RDONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    closeSync(STDERR);
    openSync(path, constants.O_WRONLY | constants.O_APPEND);
    unlinkSync(path);
    return source;
  } catch {
    return undefined; // no room for a file: stderr stays as it was
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function giveBack(): void {
  try {
    closeSync(STDERR);
    openSync("/dev/tty", constants.O_WRONLY);
  } catch {
    // the terminal has gone
  }
}

function readFrom(file: number, start: number): { text: string; next: number } {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const buffer = Buffer.allocUnsafe(maxReadBytes);
    const count = readSync(file, buffer, 0, maxReadBytes, at);
    if (count === 0) return { text: Buffer.concat(parts).toString("utf8"), next: at };
    parts.push(buffer.subarray(0, count));
    at += count;
  }
}
