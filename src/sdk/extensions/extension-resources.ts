// Skills, prompts and themes that extensions name when a session begins.

import { resolve } from "node:path";
import type { ExtensionRunner } from "../../extensions/hooks/extension-runner.js";
import type { DiscoveredResources } from "../../extensions/hooks/hooks.js";

export class ExtensionResources {
  readonly #cwd: string;
  #found: DiscoveredResources | undefined;
  /** All were loaded again; must not reject. */
  onRenewed: () => Promise<void> = async () => {};
  /** Must not reject. */
  onFound: (found: DiscoveredResources) => Promise<void> = async () => {};

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Those of the user's extensions: a project does not choose colours. */
  get themePaths(): readonly string[] {
    const own = this.#found?.themes.filter(({ needsTrust }) => !needsTrust) ?? [];
    return own.map(({ path }) => resolve(this.#cwd, path));
  }

  /** What was named before is gone where nothing names it any more. */
  async discover(runner: ExtensionRunner | undefined, reason: "startup" | "reload"): Promise<void> {
    if (!runner || !(this.#found || runner.hasHandlers("resources_discover"))) return;
    this.#found = await runner.emit({ type: "resources_discover", cwd: this.#cwd, reason });
    await this.onFound(this.#found);
  }
}
