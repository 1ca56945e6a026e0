// Texts that tell a model how to work: templates, skills, rules, context files. Some come with projects, so each is
// read within bounds, never through a link out of the project, and cleaned of invisible characters.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { sanitizeForTerminal, stripInvisible } from "../../base/sanitize.js";
import type { Coverage } from "../../extensions/trust/digest-project.js";
import { readModuleFile } from "../../files/module-files.js";
import { isWithin, printable } from "../../files/paths/resolve-path.js";
import type { TextSource } from "./text-sources.js";

export const maxTextBytes = 128 * 1024;

export interface TextFile extends TextSource {
  readonly text: string;
}

export interface TextReader {
  readonly log: Log;
  /** What the project was trusted with, and its root. Without it nothing of the project is read. */
  readonly project?: { readonly coverage: Coverage; readonly root: string } | undefined;
}

/** Undefined, with a line in the log, for a file that cannot be used; without one for a file that does not exist. */
export function readTextFile(source: TextSource, { log, project }: TextReader): TextFile | undefined {
  try {
    const { bytes, realPath } = readModuleFile(source.path, maxTextBytes);
    if (source.level === "project") {
      if (!project || !isWithin(realPath, project.root)) throw refused("leads out of the project");
      project.coverage.admit(realPath, bytes);
    }
    return { ...source, text: decodeText(bytes) };
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    if (error.code !== "not_found") log.warn(`${printable(source.path)}: ${messageOf(error)}; it is not used`);
    return undefined;
  }
}

/** Throws `file_refused` with the end of a sentence that begins with the file. */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw refused("is not text");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused("is not UTF-8 text"); // the decoder's own message says no more
  }
}

/** What a model is shown of a text. Removed characters are reported. */
export function cleanText(text: string, path: string, log: Log): string {
  const { text: visible, findings } = stripInvisible(text);
  if (findings !== "") log.warn(`${printable(path)}: removed ${findings}`);
  return sanitizeForTerminal(visible).trim();
}

export function refused(message: string): GalleyError {
  return new GalleyError("file_refused", message);
}
