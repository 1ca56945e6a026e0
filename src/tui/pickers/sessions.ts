// The list of sessions: newest first, with what is pending in them. Reading them never holds up the keys: names come from the
// ends of their files, and what is pending is counted for the rows that are on the screen.

import { matchesKey } from "@earendil-works/pi-tui";
import { ageText } from "../../base/age-text.js";
import { messageOf } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type { SessionInfo } from "../../sdk/index.js";
import type { TerminalApp } from "../terminal-app.js";
import { askKey, askLine } from "./ask-choice.js";
import { ListPicker } from "./list-picker.js";
import type { ListRow } from "./list-state.js";

type Scope = "project" | "all";

const titles = { project: "Sessions of this project", all: "Sessions of all projects" };

/** `isStart`: nothing was said in this session yet, so that closing the list begins a new one. */
export function openSessions(app: TerminalApp, { isStart = false } = {}): void {
  const { sessions } = app.access;
  const pending = new Map<string, number>();
  let scope: Scope = "project";
  let infos: readonly SessionInfo[] = [];
  let isCounting = false;
  const show = () => app.showDialog(picker);
  const fail = (error: unknown) => app.notice("error", messageOf(error));
  const rows = () =>
    infos.map((info) =>
      rowOf(info, { pending: pending.get(info.path), scope, isOpen: info.id === app.session.sessionId }),
    );
  const refresh = () => {
    picker.list.replace(rows(), (a, b) => a.path === b.path);
    app.draw();
  };
  const picker = new ListPicker<SessionInfo>(app.theme, {
    title: titles.project,
    hints: () => [
      isStart ? "enter open · esc new session" : "enter open · esc back",
      `tab ${scope === "all" ? "this project" : "all projects"} · ctrl+r rename · ctrl+d delete`,
      "type to filter",
    ],
    empty: "No session yet. Esc, and say what you want: it is kept as a session.",
    rows: [],
    screenRows: () => app.screen.terminal.rows,
    cancel: () => app.showDialog(undefined),
    choose: (info) => void open(info).catch(fail),
    onKey: (data, selected) => {
      if (matchesKey(data, "tab")) void load(scope === "all" ? "project" : "all");
      else if (matchesKey(data, "ctrl+r") && selected) void rename(selected.value).catch(fail).finally(show);
      else if (matchesKey(data, "ctrl+d") && selected) void remove(selected.value).catch(fail).finally(show);
      else return false;
      return true;
    },
    onShown: (shown) => void count(shown),
  });

  async function load(wanted: Scope): Promise<void> {
    scope = wanted;
    picker.title = titles[scope];
    picker.isLoading = true;
    app.draw();
    infos = await sessions.list(scope).catch((error: unknown) => {
      fail(error);
      return [];
    });
    picker.isLoading = false;
    refresh();
  }

  /** One after the other: the keys come first. */
  async function count(shown: readonly ListRow<SessionInfo>[]): Promise<void> {
    if (isCounting) return;
    isCounting = true;
    const unknown = shown.filter(({ value }) => !pending.has(value.path));
    for (const { value } of unknown) pending.set(value.path, await sessions.countPending(value.path).catch(() => 0));
    isCounting = false;
    if (unknown.some(({ value }) => (pending.get(value.path) ?? 0) > 0)) refresh();
  }

  async function open(info: SessionInfo): Promise<void> {
    app.showDialog(undefined);
    if (info.id === app.session.sessionId) return app.notice("info", "This session is open already.");
    if (scope === "all" && !(await sessions.list("project")).some(({ path }) => path === info.path))
      return app.notice(
        "info",
        `It belongs to another project. Open it there:\ncd ${shellWord(info.cwd)} && galley --resume ${info.id}`,
      );
    if (await app.session.switchSession(info.path)) app.restart(`Session ${nameOf(info)}`);
  }

  async function rename(info: SessionInfo): Promise<void> {
    const name = await askLine(app, `A name for ${nameOf(info)}`, info.name ?? "");
    if (!name) return;
    if (info.id === app.session.sessionId) app.session.setSessionName(name);
    else await sessions.rename(info.path, name);
    await load(scope);
  }

  async function remove(info: SessionInfo): Promise<void> {
    if (info.id === app.session.sessionId)
      return app.notice("warning", "This session is open. /new first, then delete it.");
    const question = `Delete ${nameOf(info)} (${info.messageCount} messages)? Files that it changed stay as they are.`;
    if ((await askKey(app, question, { y: "delete", n: "keep" })) !== "y") return;
    await sessions.delete(info.path);
    await load(scope);
  }

  show();
  void load(scope);
}

/** As a shell takes it. */
function shellWord(path: string): string {
  return /^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function nameOf({ name, firstMessage, id }: SessionInfo): string {
  return oneLine(name || firstMessage || id, 60) || id;
}

interface RowFacts {
  readonly pending: number | undefined;
  readonly scope: Scope;
  readonly isOpen: boolean;
}

function rowOf(info: SessionInfo, { pending, scope, isOpen }: RowFacts): ListRow<SessionInfo> {
  const parts = [
    ageText(Date.now() - info.modifiedMs),
    ...(scope === "all" ? [`in ${oneLine(info.cwd.slice(info.cwd.lastIndexOf("/") + 1), 20)}`] : []),
    `${info.messageCount}${info.isCountExact ? "" : "+"} messages`,
    ...(pending ? [`◌ ${pending} pending`] : []),
    ...(isOpen ? ["this one"] : []),
  ];
  return {
    value: info,
    text: nameOf(info),
    detail: parts.join(" · "),
    search: `${info.firstMessage} ${info.id} ${info.cwd}`,
  };
}
