// Commands about what is pending and what was changed. Nothing is written that was not named: what an action rests on is
// listed first.

import { ageText } from "../../base/age-text.js";
import { GalleyError } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import type { Change, PendingActionView } from "../../protocol/pending.js";
import type { TerminalApp } from "../terminal-app.js";
import type { SlashCommands } from "./slash-command.js";

const ids = (app: TerminalApp) => app.session.pendingActions.map(({ id }) => id);

/** Plain mode has the same commands without a screen. */
type CommandHost = Pick<TerminalApp, "session" | "notice">;

export const pendingCommands: SlashCommands = {
  pending: { usage: "", help: "what waits for a decision", run: pending },
  apply: { usage: "[ID] [--with-deps]", help: "write a pending action", run: apply, values: ids },
  discard: { usage: "[ID|all] [REASON]", help: "drop a pending action", run: discard, values: ids },
  undo: { usage: "[CHANGE]", help: "take back the newest change, or this one", run: undo },
  redo: { usage: "", help: "make the last undone change again", run: redo },
  changes: { usage: "", help: "what was changed in this project", run: changes },
};

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

async function apply(app: TerminalApp, argument: string): Promise<void> {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const withDeps = words.includes("--with-deps");
  const [id, ...others] = words.filter((word) => word !== "--with-deps");
  if (others.length > 0 || id?.startsWith("-"))
    throw new GalleyError("usage", "Use  /apply [ID] [--with-deps].  /pending lists the ids.");
  try {
    const { text, details } = await app.session.resolvePendingAction({
      action: "apply",
      by: "user",
      reason: "applied by the user",
      ...(id === undefined ? {} : { pendingId: id }),
      ...(withDeps ? { withDeps } : {}),
    });
    app.notice("info", await withFiles(app, text, changeIdIn(details)));
  } catch (error) {
    if (!GalleyError.is(error, "depends")) throw error;
    throw new GalleyError("depends", dependsText(error, id ?? app.session.pendingActions[0]?.id ?? ""), {
      cause: error,
    });
  }
}

function dependsText(error: GalleyError, id: string): string {
  const { actions = [] } = (error.details ?? {}) as { actions?: { id: string; label: string; files: string[] }[] };
  const rows = actions.map(
    (each) => `  ${each.id}  ${each.files.map(writtenOut).join(", ")}  (${writtenOut(each.label)})`,
  );
  return [
    `${id} rests on other pending actions. To apply it would also write:`,
    ...rows,
    `Nothing was written. To apply them together: /apply ${id} --with-deps`,
  ].join("\n");
}

async function discard(app: TerminalApp, argument: string): Promise<void> {
  const [first = "", ...rest] = argument.split(/\s+/);
  const isNamed = first === "all" || /^pa_/.test(first);
  const reason = (isNamed ? rest.join(" ") : argument).trim() || "discarded by the user";
  const which = first === "all" ? { all: true } : isNamed ? { pendingId: first } : {};
  const { text } = await app.session.resolvePendingAction({ action: "discard", by: "user", reason, ...which });
  app.notice("info", text);
}

export async function undo(app: CommandHost, argument: string): Promise<void> {
  const request = { isWholeRoot: true, mustFit: true, apply: { by: "user", reason: "undone by the user" } as const };
  await tell(app, app.session.undo({ ...request, ...(argument === "" ? {} : { changeId: argument }) }));
}

export async function redo(app: CommandHost): Promise<void> {
  const request = { isWholeRoot: true, mustFit: true, apply: { by: "user", reason: "redone by the user" } as const };
  await tell(app, app.session.redo(request));
}

async function tell(app: CommandHost, work: ReturnType<TerminalApp["session"]["undo"]>): Promise<void> {
  const { result, code, changeId } = await work;
  const text = result?.content.map((block) => (block.type === "text" ? block.text : "")).join("\n") ?? "";
  if (result?.isError) throw new GalleyError(code ?? "apply_failed", text);
  app.notice("info", await withFiles(app, text, changeId));
}

/** What was written, file by file, from the change itself. */
async function withFiles(app: CommandHost, text: string, changeId: string | undefined): Promise<string> {
  const [change] = changeId === undefined ? [] : await app.session.getChanges({ ids: [changeId], isWholeRoot: true });
  if (!change) return text;
  return [`${text.trimEnd()} As ${change.id}:`, ...change.files.map(fileLine)].join("\n");
}

function changeIdIn(details: object): string | undefined {
  return (details as { sourceResultDetails?: { changeId?: string } }).sourceResultDetails?.changeId;
}

function fileLine({ path, kind, added, removed }: Change["files"][number]): string {
  const figures = [added ? `+${added}` : "", removed ? `-${removed}` : ""].filter((figure) => figure !== "");
  return `  ${kind}  ${writtenOut(path)}  ${figures.join(" ")}`.trimEnd();
}

async function changes(app: TerminalApp): Promise<void> {
  const list = await app.session.getChanges({ isWholeRoot: true, limit: 20 });
  if (list.length === 0) return app.notice("info", "No change is kept here. /apply writes what is pending.");
  app.notice("info", list.map(changeLine).join("\n"));
}

function changeLine({ id, label, at, by, files, state }: Change): string {
  const sign = state === "undone" ? "↺ undone" : "✓";
  // Most labels name their file, or how many there are.
  const count = files.length > 1 && !/\bfiles?\b/.test(label) ? ` · ${files.length} files` : "";
  return `${sign} ${id} ${writtenOut(label)}${count} · by ${by} · ${ageText(Date.now() - at)}`;
}
