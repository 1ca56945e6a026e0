// Which built-in tools a session has: those that are named, else all that the settings leave on.

import { GalleyError } from "../base/errors.js";
import { isSettingKey } from "../config/settings/schema.js";
import type { Settings } from "../config/settings/settings.js";
import type { AnyTool } from "../tools/tool.js";

/** Throws `not_found` for a name that no built-in tool has. */
export function selectTools(
  builtIn: readonly AnyTool[],
  settings: Settings,
  names: readonly string[] | undefined,
): readonly AnyTool[] {
  if (!names) return builtIn.filter(({ name }) => isOn(name, settings));
  return names.map((name) => {
    const tool = builtIn.find((candidate) => candidate.name === name);
    const known = builtIn.map((candidate) => candidate.name).join(", ");
    if (!tool) throw new GalleyError("not_found", `Unknown tool "${name}". Built-in tools: ${known}.`);
    return tool;
  });
}

/** Tools whose setting has another name. */
const words: Readonly<Record<string, string>> = { ast_edit: "astEdit", ast_grep: "astGrep", todo_write: "todo" };

/** `read` is switched by `read.enabled`; a tool without such a setting is on. */
function isOn(name: string, settings: Settings): boolean {
  const key = `${words[name] ?? name}.enabled`;
  return !isSettingKey(key) || settings.get(key) !== false;
}
