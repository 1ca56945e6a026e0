// `galley --list-models [search]`: the models that can be used now.

import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { createAgentSession } from "../../sdk/index.js";
import type { CommandLine } from "../arguments.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";

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
