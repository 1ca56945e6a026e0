// A helper process that answers messages for as long as it is needed. It exists for code that may abort its process: that
// is an event here and does not end galley. It has its own group, none of our descriptors and an environment without
// secrets, and it ends by itself when galley ends.

import { spawn } from "node:child_process";
import { parse } from "node:path";
import { childEnvironment } from "./child-environment.js";

export interface WorkerRequest {
  /** A CommonJS script. It ends when its channel closes (`disconnect`); its output is dropped. */
  readonly script: string;
  /** Found in `process.argv` from index 1 on. */
  readonly args: readonly string[];
  /** Structured clones of what the script sent, in order. */
  onMessage(message: unknown): void;
  /** Once, after the last message. */
  onEnd(end: { readonly reason: string }): void;
}

export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Lost when the worker has ended; `onEnd` tells. */
  send(message: unknown): void;
  /** Whether this process must stay alive for it. A new worker does not keep it alive. */
  hold(isNeeded: boolean): void;
  /** At once, with everything in its group. */
  kill(): void;
}

const maxErrorText = 4000;

export function startWorker({ script, args, onMessage, onEnd }: WorkerRequest): WorkerProcess {
  const child = spawn(process.execPath, ["--expose-gc", "-e", script, "--", ...args], {
    // Not the user's directory: it may vanish, and a script on the command line finds its modules from here.
    cwd: parse(process.execPath).root,
    env: childEnvironment(process.env),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
    detached: true,
    windowsHide: true,
  });
  let errorText = "";
  let hasEnded = false;
  const end = (reason: string) => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd({ reason });
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errorText = (errorText + text).slice(0, maxErrorText);
  });
  child.on("message", onMessage);
  child.on("error", (error) => {
    if (child.pid === undefined) end(error.message); // if a message could not be sent, the end of the worker follows
  });
  // Not `exit`: what the worker sent last may still be on its way then.
  child.on("close", (code, signal) => end(firstProblem(errorText) ?? `it ended with ${signal ?? `code ${code}`}`));
  const hold = (isNeeded: boolean) => {
    const method = isNeeded ? "ref" : "unref";
    child[method]();
    child.channel?.[method]();
    (child.stderr as { ref?(): void; unref?(): void } | null)?.[method]?.();
  };
  hold(false);
  return {
    pid: child.pid,
    send(message) {
      if (child.connected) child.send(message as object, () => {}); // after a failure the end of the worker follows
    },
    hold,
    kill() {
      if (hasEnded || child.pid === undefined) return;
      try {
        if (process.platform === "win32") child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // it ended a moment ago
      }
    },
  };
}

/** The line that says what happened in a native panic, or that names an error. */
function firstProblem(text: string): string | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const panic = lines.findIndex((line) => /panicked at/.test(line));
  const line = panic >= 0 ? (lines[panic + 1] ?? lines[panic]) : lines.find((candidate) => /Error: /.test(candidate));
  return line?.slice(0, 300);
}
