// Keeps stdout for frames. Whatever else writes there (a library, a tool, a child process, a console.log) lands on
// stderr, and no child process reads the host's commands from stdin. In two steps, because the second loads what most
// programs never need: at the start, and before any extension is loaded.

import fs from "node:fs";
import net from "node:net";
import type { Writable } from "node:stream";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
/** The descriptor of the stdin that extensions are given. */
const NO_FILE = -1;

/** Takes stdout away from all other code; the returned stream is the only way to it. */
export function guardStdout(): Writable {
  const privateDescriptor = moveDescriptor();
  // Touched before the patches below, so that a stream on a file keeps the original write functions.
  const output: Writable =
    privateDescriptor === undefined
      ? process.stdout
      : new net.Socket({ fd: privateDescriptor, readable: false, writable: true });
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => process.stderr });
  redirectFileWrites();
  return output;
}

/** The failure cannot be reported anywhere. The stream itself is made with the first write, which takes a while. */
export function ignoreBrokenStderr(): void {
  const { get } = Object.getOwnPropertyDescriptor(process, "stderr") ?? {};
  let stream: NodeJS.WriteStream | undefined;
  const made = (): NodeJS.WriteStream => get?.call(process).on("error", () => {});
  Object.defineProperty(process, "stderr", { configurable: true, enumerable: true, get: () => (stream ??= made()) });
}

/** Also for children, and for extensions that imported their functions from Node by name. */
export function guardFromExtensions(): void {
  if (areChildrenRedirected) return;
  areChildrenRedirected = true;
  redirectChildren(process.getBuiltinModule("node:child_process"));
  process.getBuiltinModule("node:module").syncBuiltinESMExports();
}

let areChildrenRedirected = false;

/**
 * A pipe can be opened a second time through procfs. Then descriptor 1 itself becomes stderr, which shuts out native
 * code and children too. A socket (what a Node host hands us) cannot, and a file would be cut or overwritten.
 */
function moveDescriptor(): number | undefined {
  try {
    if (process.platform !== "linux" || !fs.fstatSync(STDOUT).isFIFO()) return undefined;
    const moved = fs.openSync("/proc/self/fd/1", fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.closeSync(STDOUT);
    fillStdout();
    return moved;
  } catch {
    return undefined; // no procfs, or a pipe without a reader: the patches have to do
  }
}

/**
 * The lowest free descriptor is given out first, so the next open after the close lands on 1. To the end, because a
 * second opening of a file that stderr goes to starts at its beginning, and would write over what is there.
 */
function fillStdout(): void {
  for (const path of ["/proc/self/fd/2", "/dev/null"]) {
    try {
      if (fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_APPEND) === STDOUT) return;
    } catch {
      // stderr may be a socket: try the next
    }
  }
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Every other way to write to a descriptor (streams, writeFile, appendFile) ends in one of these. */
function redirectFileWrites(): void {
  for (const name of ["write", "writeSync", "writev", "writevSync", "writeFileSync"] as const)
    wrap(fs, name, (original, [file, ...rest]) => original(file === STDOUT ? STDERR : file, ...rest));
  // Code that closes "its" stdout would cut off the frames, and the next opened file would get them.
  wrap(fs, "closeSync", (original, args) => (args[0] === STDOUT ? undefined : original(...args)));
  wrap(fs, "close", (original, args) => {
    if (args[0] !== STDOUT) return original(...args);
    if (typeof args[1] === "function") process.nextTick(args[1], null);
  });
}

/** All asynchronous kinds end in ChildProcess.spawn; the synchronous ones each take their own options. */
function redirectChildren(childProcess: typeof import("node:child_process")): void {
  wrap(childProcess.ChildProcess.prototype, "spawn", (original, args) => original(...args.map(withOwnStreams)));
  for (const name of ["spawnSync", "execSync", "execFileSync"] as const)
    wrap(childProcess, name, (original, args) => original(...args.map(withOwnStreams)));
}

/** Neither our stdin nor our stdout. Anything but an options object is returned as it is. */
function withOwnStreams(options: unknown): unknown {
  if (typeof options !== "object" || options === null || !("stdio" in options)) return options;
  const stdio = options.stdio === "inherit" ? ["inherit", "inherit", "inherit"] : options.stdio;
  return Array.isArray(stdio) ? { ...options, stdio: stdio.map(ownStream) } : options;
}

function ownStream(slot: unknown, index: number): unknown {
  const isStream = typeof slot === "object" && slot !== null;
  const file = slot === "inherit" ? index : isStream ? (slot as { fd?: unknown }).fd : slot;
  if (file === STDOUT) return STDERR;
  return file === STDIN || file === NO_FILE ? "ignore" : slot;
}

function wrap(holder: object, name: string, call: (original: AnyFunction, args: unknown[]) => unknown): void {
  const table = holder as Record<string, AnyFunction>;
  const original = table[name];
  if (!original) return;
  const wrapped: AnyFunction = function (...args) {
    return call(original.bind(this), args);
  };
  // Callers use properties of the function (util.promisify's custom form, for one).
  Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
  table[name] = wrapped;
}
