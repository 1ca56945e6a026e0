// Commands about what is pending and what was changed, and how the two are listed.

import { ageText } from "../../base/age-text.js";
import { writtenOut } from "../../base/written-out.js";
import type { Change, PendingActionView } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import type { TerminalApp } from "../terminal-app.js";
import { applyUsage, applyWords, discardUsage, discardWords, redoWords, undoWords } from "./decide-words.js";
import type { SlashCommand, SlashCommands } from "./slash-command.js";

const ids = (app: TerminalApp) => app.session.pendingActions.map(({ id }) => id);

export const pendingCommands: SlashCommands = {
  pending: { usage: "", help: "what waits for a decision", run: pending },
  apply: { usage: applyUsage, help: "write a pending action", run: telling(applyWords), values: ids },
  discard: { usage: discardUsage, help: "drop a pending action", run: telling(discardWords), values: ids },
  undo: { usage: "[CHANGE]", help: "take back the newest change, or this one", run: telling(undoWords) },
  redo: { usage: "", help: "make the last undone change again", run: telling(redoWords) },
  changes: { usage: "", help: "what was changed in this project", run: changes },
};

function telling(work: (session: AgentSession, argument: string) => Promise<string>): SlashCommand["run"] {
  return async (app, argument) => app.notice("info", await work(app.session, argument));
}

async function pending(app: TerminalApp): Promise<void> {
  const actions = await app.session.getPendingActions({ check: true });
  if (actions.length === 0) return app.notice("info", "Nothing pending.");
  app.notice("info", actions.map(actionLine).join("\n"));
}

function actionLine({ id, label, files = [], restsOn = [], ...action }: PendingActionView): string {
  const { status } = action as { status?: string };
  const names = files.slice(0, 5).map(({ path }) => writtenOut(path));
  const more = files.length > names.length ? `, … ${files.length - names.length} more` : "";
  const below = restsOn.map((each) => `, rests on ${each.id} for ${each.files.map(writtenOut).join(", ")}`).join("");
  const state = status === "stale" ? "⚠ stale" : "◌";
  return `${state} ${id} ${writtenOut(label)}${below}\n    ${names.join(", ")}${more}`.trimEnd();
}

async function changes(app: TerminalApp): Promise<void> {
  const list = await app.session.getChanges({ isWholeRoot: true, limit: 20 });
  if (list.length === 0) return app.notice("info", "No change is kept here. /apply writes what is pending.");
  app.notice("info", list.map(changeLine).join("\n"));
}

function changeLine({ id, label, at, by, state }: Change): string {
  const sign = state === "undone" ? "↺ undone" : "✓";
  return `${sign} ${id} ${writtenOut(label)} · by ${by} · ${ageText(Date.now() - at)}`;
}
