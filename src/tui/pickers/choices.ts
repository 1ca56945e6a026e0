// The lists of models, thinking levels and settings. Each says where a choice is stored.

import { messageOf } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type { SettingRow } from "../editor/input-access.js";
import type { TerminalApp } from "../terminal-app.js";
import { askLine } from "./ask-choice.js";
import { ListPicker } from "./list-picker.js";

const moves = "enter choose · esc back";

function base(app: TerminalApp) {
  return { screenRows: () => app.screen.terminal.rows, cancel: () => app.showDialog(undefined) };
}

export function openModels(app: TerminalApp): void {
  const { session } = app;
  const isCurrent = (model: { provider: string; id: string }) =>
    model.provider === session.model?.provider && model.id === session.model.id;
  app.showDialog(
    new ListPicker(app.theme, {
      ...base(app),
      title: "Model",
      hints: () => [moves, "kept in this session", "for all: the setting modelRoles.default", "type to filter"],
      empty: "No model has a key. /login stores one.",
      rows: session.getAvailableModels().map((model) => ({
        value: model,
        text: oneLine(`${model.provider}/${model.id}`, 100),
        detail: `${isCurrent(model) ? "in use · " : ""}${Math.round(model.contextWindow / 1000)}k context`,
      })),
      isSelected: isCurrent,
      choose(model) {
        app.showDialog(undefined);
        session.setModel(model.provider, model.id);
        app.draw();
      },
    }),
  );
}

export function openThinking(app: TerminalApp): void {
  const { session } = app;
  app.showDialog(
    new ListPicker(app.theme, {
      ...base(app),
      title: "Thinking",
      hints: () => [moves, "kept in this session", "for all: the setting defaultThinkingLevel"],
      empty: "This model has no thinking levels. /model chooses another.",
      rows: session.getAvailableThinkingLevels().map((level) => ({
        value: level,
        text: level,
        detail: level === session.thinkingLevel ? "in use" : "",
      })),
      isSelected: (level) => level === session.thinkingLevel,
      choose(level) {
        app.showDialog(undefined);
        session.setThinkingLevel(level);
        app.draw();
      },
    }),
  );
}

export async function openSettings(app: TerminalApp): Promise<void> {
  const { settings } = app.access;
  const rowsOf = (rows: readonly SettingRow[]) =>
    rows.map((row) => ({ value: row, text: row.key, detail: `${oneLine(row.value, 40)}  ${row.source}` }));
  const picker = new ListPicker<SettingRow>(app.theme, {
    ...base(app),
    title: "Settings",
    hints: (selected) => [
      "enter change · esc back",
      `stored in ${settings.path}`,
      "counts from the next start · type to filter",
      ...(selected ? [oneLine(selected.value.help, 200)] : []),
    ],
    empty: "There are no settings.",
    rows: rowsOf(await settings.list()),
    choose: (row) => void change(row).catch((error: unknown) => app.notice("error", messageOf(error))),
  });
  app.showDialog(picker);

  async function change({ key, value, values, help }: SettingRow): Promise<void> {
    const next = values
      ? values[(values.indexOf(value) + 1) % values.length]
      : await askLine(app, `${key}: ${oneLine(help, 300)}`, value);
    if (next !== undefined && next !== value) {
      await settings.save(key, next).finally(() => app.showDialog(picker));
      picker.list.replace(rowsOf(await settings.list()), (a, b) => a.key === b.key);
    }
    app.showDialog(picker);
  }
}
