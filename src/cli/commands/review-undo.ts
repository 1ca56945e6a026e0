// `galley undo` and `galley redo`: a change, or all changes of a run, taken back in the session that made them.

import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { listSessions } from "../../sdk/manage-sessions.js";
import {
  listChangeOwners,
  listDamagedChanges,
  listPendingSessions,
  type PendingLocation,
  withSessionFile,
} from "../../sdk/pending-sessions.js";
import { appliedChangeOf, forUser } from "../../sdk/review/decided.js";
import { findChange } from "../../sdk/review/find-by-id.js";
import { diffsOf } from "../../sdk/review/listed-action.js";
import { changeOwner, keepSession } from "../../sdk/review/stage-undo.js";
import type { ExitReason } from "../exit-codes.js";
import { shellWord } from "../shell-word.js";
import type { PendingWords } from "./pending-words.js";
import { print, printJson } from "./review-output.js";
import { inProject } from "./review-show.js";
import { aboutAction, diffText, statText, writtenText } from "./review-tables.js";

interface Wanted {
  readonly verb: "undo" | "redo";
  readonly changeId: string | undefined;
  readonly isRun: boolean;
  /** It is staged, and decided later. */
  readonly isPreview: boolean;
}

export async function takeBack(location: PendingLocation, words: PendingWords): Promise<ExitReason> {
  const { flags, targets, reason } = words;
  const isRun = flags.has("run");
  const isPreview = flags.has("preview") || (isRun && !flags.has("yes"));
  const owners = await listChangeOwners(location);
  const ids = [...owners, ...(await listDamagedChanges(location))].map(({ id }) => id);
  const [target] = targets;
  const changeId = target && findChange(ids, target.id);
  const wanted: Wanted = { verb: words.verb === "redo" ? "redo" : "undo", changeId, isRun, isPreview };
  const owner = await sessionFor(location, wanted, owners);
  const isJson = flags.has("json");
  const staged = await withSessionFile(location, owner, async (session) => {
    const request = {
      isWholeRoot: true,
      mustFit: true,
      ...(isPreview ? {} : { apply: { by: "user", reason, protected: flags.has("protected") } as const }),
    };
    const done = session[wanted.verb]({ ...request, ...(wanted.verb === "undo" ? { changeId, isRun } : {}) });
    const { action, answer } = await done.catch((error: unknown) => {
      throw withHint(error, wanted);
    });
    if (!answer) {
      keepSession(session, reason);
      return { id: action.id, session: session.sessionId };
    }
    const nameFile = inProject(location);
    const made = appliedChangeOf(answer.decided);
    const which = { ids: made === undefined ? [] : [made], isWholeRoot: true, withDiff: !isJson, nameFile };
    const [change] = await session.getChanges(which);
    const { first } = forUser(answer.decided);
    if (isJson) printJson({ ...(change ? { change } : {}), text: first });
    else
      print(
        `${change ? `${diffText(change.files)}\n` : ""}${sanitizeForTerminal(first)}\n${change ? writtenText(change) : ""}`,
      );
    return undefined;
  });
  if (staged) await printStaged(location, staged, isJson);
  return "done";
}

/** After its session is closed, so that it is found as every other command finds it. */
async function printStaged(
  location: PendingLocation,
  staged: { id: string; session: string },
  isJson: boolean,
): Promise<void> {
  const found = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const listed = found.find(({ id, session }) => id === staged.id && session.id === staged.session);
  const also = location.sessionDir === undefined ? "" : ` --session-dir ${shellWord(location.sessionDir)}`;
  const name = listed?.name ?? staged.id;
  const text = `Staged as ${name} – files NOT modified. Apply it with: galley apply ${name}${also}`;
  if (isJson) return printJson({ pendingId: staged.id, name, text });
  const shown = listed
    ? `${aboutAction(listed, Date.now())}\n${statText(listed.action.files ?? [])}\n${diffText(await diffsOf(listed, listed.files))}\n`
    : "";
  print(`${shown}${sanitizeForTerminal(text)}\n`);
}

/** A newest change that does not fit must not seem to be the end of it. */
function withHint(error: unknown, { verb, changeId, isRun }: Wanted): unknown {
  if (GalleyError.is(error, "protected")) {
    const words = ["galley", verb, ...(isRun ? ["--run", "--yes"] : changeId === undefined ? [] : [changeId])];
    return new GalleyError(error.code, `${error.message} To write them too: ${words.join(" ")} --protected`);
  }
  if (!GalleyError.is(error, "stale_preview") || verb === "redo" || changeId !== undefined) return error;
  const hint = isRun ? "Take back single changes with galley undo CHANGE" : "Another one can be undone by its id";
  return new GalleyError(error.code, `${error.message} ${hint}: galley changes lists them.`);
}

/**
 * Undo stages in the session that made the change, or in a new one where that session has no file. A preview is found
 * by the other commands, which look only at the sessions of this project.
 */
async function sessionFor(
  location: PendingLocation,
  { verb, changeId, isRun, isPreview }: Wanted,
  owners: Awaited<ReturnType<typeof listChangeOwners>>,
): Promise<string | undefined> {
  const file = changeOwner(owners, { verb, changeId, isRun }) ?? "";
  const owner = isAbsolute(file) && existsSync(file) ? file : undefined;
  if (owner === undefined || !isPreview) return owner;
  return (await listSessions(location)).some(({ path }) => path === owner) ? owner : undefined;
}
