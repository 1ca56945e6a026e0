// Loads the modules that define commands, with the gate, the limits and the API of custom tools.

import { type CustomCommandFactory, type LoadedCommand, makeCommands } from "../api/custom-command.js";
import {
  type LoadToolsDeps,
  loadModule,
  type ModuleCandidate,
  type ModuleLoadError,
  sharedApi,
  withoutRepeats,
} from "./load.js";
import { LoadMemory } from "./load-memory.js";

export interface LoadedCommands {
  /** Each name once, in the order of the candidates. */
  readonly commands: readonly LoadedCommand[];
  readonly errors: readonly ModuleLoadError[];
}

/** Never rejects. */
export async function loadCustomCommands(
  candidates: readonly ModuleCandidate[],
  deps: Omit<LoadToolsDeps, "builtInToolNames">,
): Promise<LoadedCommands> {
  const memory = deps.memory ?? new LoadMemory();
  const { virtual, api, projectApi } = sharedApi({ ...deps, memory });
  const outcomes = await Promise.all(
    withoutRepeats(candidates).map(async (candidate) => ({
      candidate,
      loaded: await loadModule(
        candidate,
        { ...deps, memory },
        {
          virtual,
          kind: "command",
          noFactoryText: "Command must export a default function",
          make: (factory) => makeCommands(factory as CustomCommandFactory, candidate.needsTrust ? projectApi : api),
        },
      ),
    })),
  );
  const commands = new Map<string, LoadedCommand>();
  const errors: ModuleLoadError[] = [];
  for (const { candidate, loaded } of outcomes) {
    const { path, realPath, source } = candidate;
    const origin = source ? { source } : {};
    const made = "problem" in loaded ? { commands: [], problems: [loaded.problem] } : loaded.made;
    for (const command of made.commands) {
      if (commands.has(command.name))
        made.problems.push(`Command name "${command.name}" conflicts with existing command`);
      else commands.set(command.name, { path, realPath, command, ...origin });
    }
    for (const error of made.problems) errors.push({ path, error, ...origin });
  }
  return { commands: [...commands.values()], errors };
}
