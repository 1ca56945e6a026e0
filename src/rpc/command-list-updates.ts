// The `/name` words that a prompt may begin with, for a host that agreed on version 2: told whenever there are others
// than it knows. It knows of none at first.

import type { AvailableCommand } from "../protocol/data.js";
import type { AvailableCommandsUpdate } from "../protocol/frames.js";
import type { AgentSession } from "../sdk/index.js";
import type { Features } from "./features.js";

export interface CommandNewsParts {
  readonly features: Features;
  send(frame: AvailableCommandsUpdate): void;
}

export class CommandNews {
  readonly #parts: CommandNewsParts;
  #told = "[]";

  constructor(parts: CommandNewsParts) {
    this.#parts = parts;
  }

  tell(session: AgentSession): void {
    if (this.#parts.features.version !== 2) return;
    const commands = availableCommands(session);
    const text = JSON.stringify(commands);
    if (text === this.#told) return;
    this.#told = text;
    this.#parts.send({ type: "available_commands_update", commands });
  }
}

export function availableCommands(session: AgentSession): AvailableCommand[] {
  return session.getCommands().map(({ sourceInfo: _, ...command }) => command);
}
