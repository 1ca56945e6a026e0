// What was said, in order. In memory for now: files, the tree and context building take this place.

import type { AgentMessage } from "../protocol/messages.js";

export class SessionLog {
  #messages: AgentMessage[] = [];

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  append(message: AgentMessage): void {
    this.#messages.push(message);
  }
}
