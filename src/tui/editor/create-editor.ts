// The editor of one terminal program: what it sends, completes and attaches.

import { slashCommands } from "../command-table.js";
import { keyLines } from "../key-lines.js";
import type { TerminalApp } from "../terminal-app.js";
import { editorTheme } from "../theme/component-themes.js";
import { type CompletionSource, createCompletion } from "./completion.js";
import { PromptEditor } from "./prompt-editor.js";

/** How long a list of file names is used again. */
const namesKeptMs = 5000;

export function createEditor(app: TerminalApp): PromptEditor {
  const { access } = app;
  const editor = new PromptEditor(app.screen, editorTheme(app.theme), {
    history: access.history,
    readImage: (path) => access.readImage(path),
    attach: (name, image) => app.attachments.add(name, image),
    showKeys: () => app.notice("info", keyLines(app.keys).join("\n")),
  });
  editor.onSubmit = (text) => app.send(editor.asTyped(text));
  editor.setAutocompleteProvider(createCompletion(completionSource(app)));
  return editor;
}

function completionSource(app: TerminalApp): CompletionSource {
  const { access } = app;
  let known: { readonly names: Promise<readonly string[]>; readonly until: number } | undefined;
  return {
    commands: () => [
      ...Object.entries(slashCommands).map(([name, { usage, help }]) => ({ name, help: `${usage} ${help}`.trim() })),
      ...app.session
        .getCommands()
        .filter(({ name }) => !Object.hasOwn(slashCommands, name))
        .map(({ name, description = "", source }) => ({ name, help: description || source })),
    ],
    argumentsOf: (command) =>
      Object.hasOwn(slashCommands, command) ? slashCommands[command]?.values?.(app) : undefined,
    async fileNames() {
      const now = performance.now();
      // Not stopped by the next letter: the same list is used for it.
      if (!known || now > known.until)
        known = { names: access.fileNames(new AbortController().signal).catch(() => []), until: now + namesKeptMs };
      return known.names;
    },
    listDirectory: (path) => access.listDirectory(path),
  };
}
