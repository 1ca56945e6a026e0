// The tree of the session: go to another point of it, or begin a new session there. It moves the conversation only, and says
// that files are not touched.

import { decodeKittyPrintable, matchesKey } from "@earendil-works/pi-tui";
import { messageOf } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type { TerminalApp } from "../terminal-app.js";
import { askKey, askLine } from "./ask-choice.js";
import { ListPicker } from "./list-picker.js";
import type { ListRow } from "./list-state.js";
import { type TreeRow, treeRows } from "./tree-rows.js";

const filesStay = "Files are not touched: /changes lists what was changed, /undo takes it back.";

export function openTree(app: TerminalApp, { isBranch = false } = {}): void {
  const { session } = app;
  const unfolded = new Set<string>();
  const rows = () => treeRows(session.sessionManager.tree, unfolded).map(rowOf);
  const isSame = (a: TreeRow, b: TreeRow) => a.entry.id === b.entry.id;
  const fail = (error: unknown) => app.notice("error", messageOf(error));
  const refresh = () => picker.list.replace(rows(), isSame);
  const picker = new ListPicker<TreeRow>(app.theme, {
    title: isBranch ? "New session from an earlier message" : "Tree",
    hints: () => [
      isBranch ? "enter or b new session from here" : "enter go there · b new session from here",
      "esc back · right left unfold, fold · L label · / filter",
      filesStay,
    ],
    empty: "Nothing was said yet. Esc, and say what you want.",
    rows: rows(),
    isSelected: ({ isHere }) => isHere,
    filtersAfterSlash: true,
    screenRows: () => app.screen.terminal.rows,
    cancel: () => app.showDialog(undefined),
    choose: (row) => void (isBranch ? branch(row) : go(row)).catch(fail),
    onKey: (data, selected) => {
      const row = selected?.value;
      if (!row) return false;
      if (matchesKey(data, "right") || matchesKey(data, "left")) return fold(row, matchesKey(data, "left"));
      const typed = decodeKittyPrintable(data) ?? data;
      if (typed === "b") void branch(row).catch(fail);
      else if (typed === "L") void label(row).catch(fail);
      else return false;
      return true;
    },
  });

  function fold({ branch: begun, entry }: TreeRow, isClosing: boolean): boolean {
    if (!begun) return false;
    if (isClosing) unfolded.delete(entry.id);
    else unfolded.add(entry.id);
    refresh();
    return true;
  }

  async function go(row: TreeRow): Promise<void> {
    app.showDialog(undefined);
    if (row.isHere && !row.isUser) return app.notice("info", "You are there already.");
    const question = `${filesStay}\nSummarize the branch that is left, for the model?`;
    const answer = await askKey(app, question, { y: "summarize", n: "no" });
    if (answer === undefined) return app.showDialog(picker);
    const result = await session.navigateTree(row.entry.id, { summarize: answer === "y" });
    if (result.cancelled) return app.notice("info", "Nothing was changed.");
    app.restart(`Here the conversation goes on from an earlier point. ${filesStay}`, { maxBlocks: 6 });
    if (result.editorText !== undefined) app.editor.setText(result.editorText);
    app.draw();
  }

  async function branch(row: TreeRow): Promise<void> {
    if (!row.isUser) return app.notice("warning", "A new session begins at a message of yours. Choose one marked ›.");
    app.showDialog(undefined);
    const { text, cancelled } = await session.branch(row.entry.id);
    if (cancelled) return app.notice("info", "Nothing was changed.");
    app.restart(`A new session with what was said before. ${filesStay}`, { maxBlocks: 6 });
    app.editor.setText(text);
    app.draw();
  }

  async function label({ entry, label: old }: TreeRow): Promise<void> {
    const text = await askLine(app, "A label for this point; empty takes it away", old ?? "");
    if (text !== undefined) session.setLabel(entry.id, text === "" ? undefined : text);
    refresh();
    app.showDialog(picker);
  }

  app.showDialog(picker);
}

function rowOf(row: TreeRow): ListRow<TreeRow> {
  const { branch, depth, text, label, isHere } = row;
  const sign = branch ? (branch.isFolded ? "▸ " : "▾ ") : "";
  const details = [
    ...(label === undefined ? [] : [`[${oneLine(label, 30)}]`]),
    ...(branch ? [`branch, ${branch.messages} message${branch.messages === 1 ? "" : "s"}`] : []),
    ...(isHere ? ["you are here"] : []),
  ];
  return { value: row, text: `${"  ".repeat(depth)}${sign}${text}`, detail: details.join(" · ") };
}
