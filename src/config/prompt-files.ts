// `SYSTEM.md` and `APPEND_SYSTEM.md` in the agent directory: the user's own words for the system prompt. A project's
// are read later, if it is trusted (see session-prompts.ts).

import { join } from "node:path";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { readConfigFile } from "../files/config/config-files.js";
import { printable } from "../files/paths/resolve-path.js";
import { cleanText } from "./prompts/text-files.js";

export function readPromptFiles(agentDir: string, log: Log) {
  const replaced = read(join(agentDir, "SYSTEM.md"), log);
  const added = read(join(agentDir, "APPEND_SYSTEM.md"), log);
  return { replaced, added };
}

function read(path: string, log: Log): string | undefined {
  try {
    const file = readConfigFile(path);
    return (file && cleanText(file.text, path, log)) || undefined;
  } catch (error) {
    if (!GalleyError.is(error, "file_refused")) throw error;
    log.warn(`${printable(path)}: ${error.message}; it is not used`);
    return undefined;
  }
}
