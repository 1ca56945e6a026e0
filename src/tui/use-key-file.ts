// The keys that hold in this run: the table, with the user's file, here and in the library.

import { KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { InputAccess } from "./editor/input-access.js";
import { type KeyChoice, readKeyFile } from "./key-file.js";

export function useKeyFile(access: Pick<InputAccess, "keyFile">): KeyChoice {
  const { text } = access.keyFile();
  const choice = readKeyFile(text);
  setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS, choice.library));
  return choice;
}
