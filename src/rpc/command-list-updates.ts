// The `/name` commands that a prompt may begin with, for a host that agreed on version 2: sent whenever the list
// differs from the one the host knows. At first it knows none.

import type { AvailableCommand } from "../protocol/data.js";
import type { AvailableCommandsUpdate } from "../protocol/frames.js";
import type { AgentSession } from "../sdk/index.js";
import type { Features } from "./features.js";

export interface CommandListUpdatesDeps {
  readonly features: Features;
  send(frame: AvailableCommandsUpdate): void;
}

export class CommandListUpdates {
  readonly #deps: CommandListUpdatesDeps;
  #told = "[]";

  constructor(deps: CommandListUpdatesDeps) {
    this.#deps = deps;
  }

  tell(session: AgentSession): void {
    if (this.#deps.features.version !== 2) return;
    const commands = availableCommands(session);
    const text = JSON.stringify(commands);
    if (text === this.#told) return;
    this.#told = text;
    this.#deps.send({ type: "available_commands_update", commands });
  }
}

export function availableCommands(session: AgentSession): AvailableCommand[] {
  return session.getCommands().map(({ sourceInfo: _, ...command }) => command);
}
