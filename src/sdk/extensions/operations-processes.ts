// Shell commands that an extension runs itself, or changes right before they run.

import { linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { childEnvironment, type Environment } from "../../processes/child-environment.js";
import type { ProcessEnd, Processes, ProcessRequest } from "../../processes/processes.js";

export interface SpawnContext {
  command: string;
  cwd: string;
  env: Record<string, string | undefined>;
}

export type SpawnHook = (context: SpawnContext) => SpawnContext | Promise<SpawnContext>;

export interface BashOperations {
  /** `timeout` in seconds. A rejection after its signal or its time means that the command was stopped. */
  exec(
    command: string,
    cwd: string,
    options: {
      onData(data: Buffer): void;
      signal?: AbortSignal;
      timeout?: number;
      env?: Record<string, string | undefined>;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** The hook sees what the command would get of our environment, which holds no keys; what it changes counts. */
export function hookedProcesses(processes: Processes, hook: SpawnHook, own: Environment): Processes {
  return {
    shutdown: () => processes.shutdown(),
    async run(request) {
      const { command, cwd, env = {} } = request;
      if (!("shell" in command)) return processes.run(request);
      const before = { ...childEnvironment(own), ...env };
      const after = await hook({ command: command.shell, cwd, env: { ...before } });
      const changed = Object.entries(after.env ?? {}).filter(([name, value]) => value !== before[name]);
      const added = Object.fromEntries(changed.filter(([, value]) => value !== undefined)) as Record<string, string>;
      return processes.run({
        ...request,
        command: { shell: after.command },
        cwd: after.cwd,
        env: { ...env, ...added },
      });
    },
  };
}

/** For a command of the user that an extension runs elsewhere. Throws where what it does there would have to be held back. */
export function processesElsewhere(
  operations: BashOperations,
  { clock, access, isStaged }: { clock: Clock; access: Elsewhere; isStaged: boolean },
): Processes {
  if (access.sandbox === "read-only" || access.isReviewed || isStaged)
    throw new GalleyError("unsupported", heldBackText);
  return operationsProcesses(operations, clock);
}

interface Elsewhere {
  readonly sandbox: string;
  readonly isReviewed: boolean;
}

const heldBackText =
  "An extension runs commands elsewhere, where galley can hold nothing back. With the access workspace or full it may.";

/** Every command ends: by itself, by its signal or by its time, whatever the extension's function does. */
export function operationsProcesses(operations: BashOperations, clock: Clock): Processes {
  return {
    shutdown: async () => {},
    async run(request) {
      if (!("shell" in request.command)) throw new GalleyError("unsupported", "This tool runs only shell commands.");
      const stop = linkAbort(request.signal);
      let isLate = false;
      const { timeoutMs } = request;
      const giveUp = () => {
        isLate = true;
        stop.abort();
      };
      const cancel = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, giveUp);
      try {
        return await ended(operations, request, {
          shell: request.command.shell,
          stop: stop.signal,
          isLate: () => isLate,
        });
      } finally {
        cancel();
        stop.release();
      }
    },
  };
}

/** Commands on this machine, as the session's own run. */
export function localOperations({ processes }: { readonly processes: Processes }): BashOperations {
  return {
    async exec(command, cwd, { onData, signal, timeout, env }) {
      const given = Object.entries(env ?? {}).filter(([, value]) => value !== undefined) as [string, string][];
      const { exitCode, stopped } = await processes.run({
        command: { shell: command },
        cwd,
        signal,
        env: Object.fromEntries(given),
        timeoutMs: timeout && timeout * 1000,
        mergesOutput: true,
        onOutput(chunk) {
          onData(Buffer.from(chunk));
          return undefined;
        },
      });
      if (stopped !== undefined) throw new Error(stopped === "aborted" ? "aborted" : `timeout:${timeout}`);
      return { exitCode };
    },
  };
}

async function ended(
  operations: BashOperations,
  { cwd, env, timeoutMs, onOutput }: ProcessRequest,
  { shell, stop, isLate }: { shell: string; stop: AbortSignal; isLate(): boolean },
): Promise<ProcessEnd> {
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 };
  const waiting: (Promise<void> | undefined)[] = [];
  const onData = (data: Buffer) => {
    if (!stop.aborted) waiting.push(onOutput?.(data, "stdout"));
  };
  const whenStopped = new Promise<ProcessEnd>((resolve) => {
    const tell = () => resolve({ exitCode: 143, stopped: isLate() ? "timed_out" : "aborted" });
    if (stop.aborted) tell();
    else stop.addEventListener("abort", tell, { once: true });
  });
  const run = operations.exec(shell, cwd, { onData, signal: stop, env: { ...env }, ...timeout }).then(
    ({ exitCode }): ProcessEnd => ({ exitCode: exitCode ?? 1 }),
    (error: unknown) => {
      if (stop.aborted) return whenStopped;
      // How functions written for this interface say that their own clock was faster.
      if (error instanceof Error && /^timeout\b/.test(error.message))
        return { exitCode: 143, stopped: "timed_out" as const };
      throw error;
    },
  );
  const end = await Promise.race([run, whenStopped]);
  await Promise.all(waiting);
  return end;
}
