// What starts the programs of a project's own code: they run as the working mode says, like the session's commands.

import { linkAbort } from "../../base/abort.js";
import type { Processes, ProcessRequest } from "../../processes/processes.js";
import type { Confinement } from "../../tools/confinement.js";

export function confinedProcesses(processes: Processes, confinement: Confinement): Processes {
  return {
    shutdown: () => processes.shutdown(),
    async run(request) {
      const wish = { command: textOf(request.command), sourceToolName: "exec" };
      const { end } = await confinement.run(wish, async ({ box, env, signal }) => {
        const link = linkAbort(request.signal, signal);
        try {
          const placed = { ...request, box, signal: link.signal, env: { ...request.env, ...env } };
          return { ...(await processes.run(placed)), printed: "" };
        } finally {
          link.release();
        }
      });
      const { printed: _printed, ...ended } = end;
      return ended;
    },
  };
}

function textOf(command: ProcessRequest["command"]): string {
  return "shell" in command ? command.shell : [command.file, ...command.args].join(" ");
}
