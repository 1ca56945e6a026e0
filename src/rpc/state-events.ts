// Tells hosts that asked for it of a thinking level or a name that is another now, whatever changed it.

import type { AgentSession } from "../sdk/index.js";
import type { Features } from "./features.js";
import { shownLevel } from "./handlers/get-state.js";

export class StateEvents {
  readonly #deps: { readonly features: Features; send(frame: object): void };
  #level: string | undefined;
  #name: string | undefined;

  constructor(deps: { readonly features: Features; send(frame: object): void }) {
    this.#deps = deps;
  }

  begin(session: AgentSession): void {
    this.#level = shownLevel(session);
    this.#name = session.sessionName;
  }

  tell(session: AgentSession): void {
    const { features, send } = this.#deps;
    if (!features.has("state-events")) return;
    const [level, name] = [this.#level, this.#name];
    this.begin(session);
    if (this.#level !== level && features.wants("thinking_level_changed"))
      send({ type: "thinking_level_changed", level: this.#level });
    if (this.#name !== name && features.wants("session_info_changed"))
      send({ type: "session_info_changed", name: this.#name });
  }
}
