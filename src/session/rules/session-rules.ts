// The stream rules of a session, loaded with its first prompt. Without any, which is usual, no reply is looked at.

import type { Log } from "../../base/log.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { StreamRule } from "./rule.js";
import { RulesController, type TtsrSettings } from "./rules-controller.js";

export interface SessionRulesDeps {
  readonly cwd: string;
  readonly log: Log;
  settings(): TtsrSettings;
  /** The entries from the root to the leaf, at this moment. */
  path(): readonly SessionEntry[];
  load?: (() => Promise<readonly StreamRule[]>) | undefined;
}

export class SessionRules {
  readonly #deps: SessionRulesDeps;
  #controller: RulesController | undefined;
  #isLoaded = false;

  constructor(deps: SessionRulesDeps) {
    this.#deps = deps;
  }

  get controller(): RulesController | undefined {
    return this.#controller;
  }

  async promptStart(): Promise<void> {
    const { cwd, log, settings, load } = this.#deps;
    if (!this.#isLoaded && load) {
      const rules = await load();
      if (rules.length > 0) {
        this.#controller = new RulesController({ rules, cwd, log, settings });
        this.restore();
      }
      this.#isLoaded = true;
    }
    this.#controller?.promptStart();
  }

  /** The leaf is somewhere else now. */
  restore(): void {
    this.#controller?.restore(this.#deps.path());
  }
}
