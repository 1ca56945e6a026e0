// The keys of the terminal, as data: the program, `/keys` and the docs read this table. The review view has a table of its own.

import type { KeyId } from "@earendil-works/pi-tui";

export interface KeyRow {
  readonly keys: readonly KeyId[];
  readonly help: string;
}

/** Names are those of pi where it has one, so that its file of keys works here. */
export const appKeys = {
  "app.interrupt": { keys: ["escape"], help: "stop the run; twice with text: clear it; twice without: the tree" },
  "app.clear": { keys: ["ctrl+c"], help: "clear the text, or stop the run; twice: leave" },
  "app.exit": { keys: ["ctrl+d"], help: "leave, when nothing is typed" },
  "app.suspend": { keys: ["ctrl+z"], help: "suspend" },
  "app.tools.expand": { keys: ["ctrl+o"], help: "unfold or fold the output of tools" },
  "app.thinking.toggle": { keys: ["ctrl+t"], help: "unfold or fold thoughts" },
  "app.thinking.cycle": { keys: ["shift+tab"], help: "next thinking level" },
  "app.access.cycle": { keys: ["ctrl+s"], help: "next access mode" },
  "app.model.cycleForward": { keys: ["ctrl+p"], help: "next model" },
  "app.model.select": { keys: ["ctrl+l"], help: "choose a model" },
  "app.review": { keys: ["ctrl+r"], help: "review what is pending" },
  "app.editor.external": { keys: ["ctrl+g"], help: "write in your editor" },
  "app.clipboard.pasteImage": { keys: ["ctrl+v"], help: "paste an image" },
  "app.message.followUp": { keys: ["alt+enter"], help: "send after the run" },
  "app.message.dequeue": { keys: ["alt+up"], help: "take queued messages back" },
  "app.session.new": { keys: [], help: "begin a new session" },
  "app.session.resume": { keys: [], help: "choose a session" },
  "app.session.tree": { keys: [], help: "the tree of this session" },
  "app.session.fork": { keys: [], help: "go on in a copy of this session" },
} as const satisfies Readonly<Record<string, KeyRow>>;

export type AppAction = keyof typeof appKeys;

export type KeyTable = Readonly<Record<AppAction, readonly KeyId[]>>;

export function defaultKeys(): KeyTable {
  const rows = Object.entries(appKeys).map(([action, { keys }]) => [action, keys as readonly KeyId[]] as const);
  return Object.fromEntries(rows) as KeyTable; // a row for each action
}
