// A private directory for what a session's commands leave for each other. It is made on first use and ends with the
// session.

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../../base/home.js";

export class TemporaryDirectory {
  #path: Promise<string> | undefined;

  /** Canonical. */
  path(): Promise<string> {
    this.#path ??= (async () => realpath(await mkdtemp(join(tmpdir(), "galley-tmp-"))))();
    return this.#path;
  }

  /** Never rejects: what cannot be removed is the system's to clean up. */
  async remove(): Promise<void> {
    const path = await this.#path?.catch(() => undefined); // it was never made
    if (path !== undefined) await rm(path, { recursive: true, force: true }).catch(() => {}); // a command may have locked it
  }
}
