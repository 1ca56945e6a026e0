// `galley exec` in a session: the program runs as the working mode says, and is found outside the project unless a path
// names it.

import { resolve } from "node:path";
import { linkAbort } from "../../base/abort.js";
import type { Processes } from "../../processes/processes.js";
import type { ProgramOutcome, ProgramRequest } from "../../session/bash/program.js";
import type { Confinement } from "../../tools/confinement.js";

/** Of what it printed, for what the notes look for. */
const maxPrinted = 64 * 1024;

/** Throws `not_found`, `unsupported` where it must not run, `start_failed`. */
export async function runProgram(
  request: ProgramRequest,
  { processes, confinement, cwd }: { processes: Processes; confinement: Confinement; cwd: string },
): Promise<ProgramOutcome> {
  const { args, stage, readsInput, timeoutMs, onOutput } = request;
  const file = request.file.includes("/") ? resolve(cwd, request.file) : request.file;
  const wish = { command: [request.file, ...args].join(" "), sourceToolName: "exec", stage };
  const { end, notes } = await confinement.run(wish, async ({ box, env, signal }) => {
    const link = linkAbort(request.signal, signal);
    let printed = "";
    try {
      const ended = await processes.run({
        command: { file, args },
        cwd,
        box,
        timeoutMs,
        signal: link.signal,
        env: env ?? {},
        ...(readsInput ? { stdin: { isOurs: true as const } } : {}),
        onOutput(chunk, stream) {
          printed = (printed + Buffer.from(chunk).toString("latin1")).slice(-maxPrinted);
          return onOutput(chunk, stream);
        },
      });
      return { ...ended, printed, report: ended.box };
    } finally {
      link.release();
    }
  });
  return { exitCode: end.exitCode, ...(end.stopped ? { stopped: end.stopped } : {}), notes };
}
