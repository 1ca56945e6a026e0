// The keys that hold, as lines for `/keys` and the question mark.

import { type AppAction, appKeys, type KeyTable } from "./terminal-keys.js";

/** What is no action of a table: keys of the editor that people look for. */
const fixed: readonly (readonly [keys: string, help: string])[] = [
  ["enter", "send; while a run is on: tell it now"],
  ["shift+enter, ctrl+j, \\ enter", "new line"],
  ["up, down", "what was sent before, by what is typed"],
  ["tab, @, /", "complete paths, file names, commands"],
  ["!cmd, !!cmd", "run a command; !! keeps it from the model"],
  ["?", "the keys, when nothing is typed"],
];

export function keyLines(keys: KeyTable): string[] {
  const rows = (Object.keys(appKeys) as AppAction[])
    .filter((action) => keys[action].length > 0)
    .map((action) => [keys[action].join(", "), appKeys[action].help] as const);
  const all = [...fixed, ...rows];
  const width = Math.max(...all.map(([key]) => key.length));
  return [...all.map(([key, help]) => `${key.padEnd(width)}  ${help}`), "/help lists the commands."];
}
