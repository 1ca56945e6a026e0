// `galley models [search]`, and the same as an option: the models that can be used now.

import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { createAgentSession } from "../../sdk/index.js";
import { type CommandLine, parseArguments, refuseForeign } from "../arguments.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";

export async function runModelsCommand(words: readonly string[]): Promise<void> {
  const line = parseArguments(["--list-models", ...words]);
  refuseForeign(line);
  return listModels(line);
}

export async function listModels(line: CommandLine): Promise<void> {
  ignoreBrokenPipe();
  const search = line.options.get("list-models")?.[0]?.toLowerCase() ?? "";
  const log = logTo((text) => process.stderr.write(text));
  const { session } = await createAgentSession({ log, contextFiles: [] });
  const names = session
    .getAvailableModels()
    .map(({ provider, id, name }) => (name === id ? `${provider}/${id}` : `${provider}/${id}  ${name}`))
    .filter((text) => text.toLowerCase().includes(search));
  process.stdout.write(names.map((text) => `${sanitizeForTerminal(text)}\n`).join(""));
  if (names.length === 0) process.stderr.write("No usable model matches.\n");
}
