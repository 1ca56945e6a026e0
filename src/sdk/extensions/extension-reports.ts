// What goes wrong in extensions, for those who want to know: hosts get a frame, the author of the extension the line and
// the stack on stderr and in the log.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import { logFailure } from "../../extensions/api/log-failure.js";
import type { FoundModule } from "../../extensions/discover/findings.js";
import type { ModuleLoadError } from "../../extensions/load/load.js";
import type { ExtensionReport } from "../../session/session-extensions.js";
import { waysOn } from "./failed-guards.js";

export class ExtensionReports {
  readonly #log: Log;
  readonly #listeners = new Set<(report: ExtensionReport) => void>();

  constructor(log: Log) {
    this.#log = log;
  }

  listen(listener: (report: ExtensionReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** What a load left out: modules that are not trusted, in one line, and those that failed. */
  async loaded(
    { untrusted, errors }: { untrusted: readonly FoundModule[]; errors: readonly ModuleLoadError[] },
    onLoadError: ((error: ModuleLoadError) => void) | undefined,
  ): Promise<void> {
    if (untrusted.length > 0) {
      const { untrustedLine } = await import("../../extensions/trust/untrusted-line.js");
      this.#log.warn(untrustedLine(untrusted.map(({ kind }) => kind)));
    }
    for (const error of errors) {
      this.unloaded(error);
      onLoadError?.(error);
    }
    for (const { path, sentence } of waysOn(errors)) this.unloaded({ path, error: sentence });
  }

  /** A module that could not be loaded. */
  unloaded({ path, error }: ModuleLoadError): void {
    this.#log.error(`${path}: ${error}`);
    this.send({ type: "extension_error", extensionPath: path, event: "load", error });
  }

  /** A handler, a command or the like. */
  failed(failure: ToolFailure): void {
    const { extensionPath, event, error } = failure;
    logFailure(this.#log, `${extensionPath} ${event}: ${error}`, failure);
    this.tell(failure);
  }

  /** What is already logged. Without the stack, which is for the log. */
  tell({ extensionPath, event, error }: ToolFailure): void {
    this.send({ type: "extension_error", extensionPath, event, error });
  }

  send(report: ExtensionReport): void {
    for (const listener of this.#listeners) {
      try {
        listener(report);
      } catch (error) {
        this.#log.error(`a listener failed: ${messageOf(error)}`);
      }
    }
  }
}
