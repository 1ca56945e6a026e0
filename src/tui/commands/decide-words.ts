// `/apply`, `/discard`, `/undo` and `/redo`: what their words mean, and what is said of the outcome. Plain mode has the same.

import { GalleyError } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import type { Change } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import { appliedChangeOf, type Decided, forUser } from "../../sdk/review/decided.js";
import { dependsText } from "../../sdk/review/depends-text.js";
import { findAction, findChange, isActionId } from "../../sdk/review/find-by-id.js";

export const applyUsage = "[ID…|all] [--with-deps]";
export const discardUsage = "[ID|all] [REASON]";

/** The whole id of a pending action of this session. A number and the beginning of an id are taken too. */
export function pendingIdOf({ pendingActions, sessionId }: AgentSession, given: string): string {
  const session = { id: sessionId, path: "" };
  const own = pendingActions.map(({ id }) => ({ id, name: id, session }));
  return findAction(own, given).id;
}

/** Writes what is named, and nothing besides: what that rests on is listed, and waits for `--with-deps`. */
export async function applyWords(session: AgentSession, argument: string): Promise<string> {
  const words = wordsOf(argument);
  const withDeps = words.includes("--with-deps");
  const names = words.filter((word) => word !== "--with-deps");
  const isAll = names.includes("all");
  if (names.some((word) => word.startsWith("-")) || (isAll && names.length > 1))
    throw new GalleyError("usage", `Use  /apply ${applyUsage}.  /pending lists the ids.`);
  const ids = isAll ? [] : names.map((name) => pendingIdOf(session, name));
  const decision = { action: "apply", by: "user", reason: "applied by the user", withDeps } as const;
  try {
    const { decided } = await session.resolvePendingAction({ ...decision, ...whichOf(isAll, ids) });
    return await withFiles(session, decided);
  } catch (error) {
    if (!GalleyError.is(error, "depends")) throw error;
    const name = ids.join(" ") || (session.pendingActions[0]?.id ?? "");
    const told = { name, command: `/apply ${name} --with-deps`, shownPath: writtenOut, shownLabel: writtenOut };
    throw new GalleyError("depends", dependsText(error, told), { cause: error });
  }
}

export async function discardWords(session: AgentSession, argument: string): Promise<string> {
  const [first = "", ...rest] = wordsOf(argument);
  const isAll = first === "all";
  const isNamed = isAll || isActionId(first);
  const reason = (isNamed ? rest.join(" ") : argument).trim() || "discarded by the user";
  const ids = isNamed && !isAll ? [pendingIdOf(session, first)] : [];
  const decision = { action: "discard", by: "user", reason } as const;
  const { decided } = await session.resolvePendingAction({ ...decision, ...whichOf(isAll, ids) });
  return withFiles(session, decided);
}

export async function undoWords(session: AgentSession, argument: string): Promise<string> {
  const given = argument.trim();
  const kept = given === "" ? [] : await session.getChanges({ isWholeRoot: true });
  const which =
    given === ""
      ? {}
      : {
          changeId: findChange(
            kept.map(({ id }) => id),
            given,
          ),
        };
  const apply = { by: "user", reason: "undone by the user" } as const;
  return outcomeOf(session, session.undo({ isWholeRoot: true, mustFit: true, apply, ...which }));
}

export async function redoWords(session: AgentSession): Promise<string> {
  const apply = { by: "user", reason: "redone by the user" } as const;
  return outcomeOf(session, session.redo({ isWholeRoot: true, mustFit: true, apply }));
}

function wordsOf(argument: string): string[] {
  return argument.split(/\s+/).filter((word) => word !== "");
}

/** Without a name: the next one. */
function whichOf(isAll: boolean, ids: readonly string[]) {
  if (isAll) return { all: true };
  const [first, ...others] = ids;
  if (first === undefined) return {};
  return others.length === 0 ? { pendingId: first } : { pendingIds: ids };
}

async function outcomeOf(session: AgentSession, work: ReturnType<AgentSession["undo"]>): Promise<string> {
  const { answer } = await work;
  return answer ? withFiles(session, answer.decided) : "";
}

/** What was written, file by file, from the change itself. */
async function withFiles(session: AgentSession, decided: Decided): Promise<string> {
  const { first, more } = forUser(decided);
  const changeId = appliedChangeOf(decided);
  const [change] = changeId === undefined ? [] : await session.getChanges({ ids: [changeId], isWholeRoot: true });
  if (!change) return [first, ...more].join("\n");
  return [`${first.trimEnd()} As ${change.id}:`, ...change.files.map(fileLine), ...more].join("\n");
}

function fileLine({ path, kind, added, removed }: Change["files"][number]): string {
  const figures = [added ? `+${added}` : "", removed ? `-${removed}` : ""].filter((figure) => figure !== "");
  return `  ${kind}  ${writtenOut(path)}  ${figures.join(" ")}`.trimEnd();
}
