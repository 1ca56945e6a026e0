// Writes what a plan of an import says, each file whole or not at all. A file or a name that came meanwhile is left alone.

import { join } from "node:path";
import type { Node, YAMLMap } from "yaml";
import { GalleyError } from "../../base/errors.js";
import { userSettingsFile } from "../../config/settings/load-settings.js";
import { saveSetting } from "../../config/settings/save-setting.js";
import { insertPair } from "../../config/settings/yaml-text.js";
import { readConfigFile } from "../../files/config/config-files.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "../../files/config/config-write.js";
import type { ImportPlan } from "./plan-import.js";

/** Throws as `saveSetting` does. */
export async function writeImport({ settings, providers, themes }: ImportPlan, agentDir: string): Promise<void> {
  for (const { name, text } of themes) {
    const path = prepareConfigPath(join(agentDir, "themes", `${name}.json`));
    if (!replaceConfigFile(path, { expected: undefined, text })) throw changed(path);
  }
  if (providers.length > 0) await writeModels(providers, agentDir);
  for (const assignment of settings) await saveSetting(userSettingsFile(agentDir), assignment);
}

async function writeModels(providers: ImportPlan["providers"], agentDir: string): Promise<void> {
  const json = join(agentDir, "models.json");
  if (readConfigFile(json)) throw new GalleyError("file_refused", `${json} is there: add the providers by hand.`);
  const path = prepareConfigPath(join(agentDir, "models.yml"));
  await withConfigLock(path, async () => {
    const yaml = await import("yaml");
    const before = readConfigFile(path)?.text;
    let text = before ?? "";
    for (const { id, value } of providers) {
      const document = yaml.parseDocument(text, { prettyErrors: false });
      const below = document.getIn(["providers"], true);
      if (yaml.isMap(below)) {
        const map = below as YAMLMap<Node, Node | null>;
        text = insertPair(text, { map, empty: undefined, names: [id], value });
      } else if (document.contents === null) text += yaml.stringify({ providers: { [id]: value } });
      else throw new GalleyError("file_refused", `${path} has no providers to add to: add them by hand.`);
    }
    if (!replaceConfigFile(path, { expected: before, text })) throw changed(path);
  });
}

function changed(path: string): GalleyError {
  return new GalleyError("file_changed", `${path} was changed meanwhile. Nothing of it was written.`);
}
