// `galley pending`, `show`, `apply`, `discard`, `undo` and `redo`: the plans that sessions of this directory left,
// decided from the command line. Text for users, one JSON document for programs, an exit code for scripts.

import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import type { PendingActionView } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import { listSessions } from "../../sdk/manage-sessions.js";
import {
  type ChangeOutcome,
  listPendingSessions,
  type PendingLocation,
  type PendingSession,
  recoverProject,
  withSessionFile,
} from "../../sdk/pending-sessions.js";
import { ageText, colouredDiff } from "../diff-text.js";
import { type ExitReason, exitCodes } from "../exit-codes.js";
import { ignoreBrokenStderr } from "../guard-stdout.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { reportUncaught } from "../report-uncaught.js";
import { shellWord } from "../shell-word.js";
import { type PendingWords, parsePendingWords } from "./pending-words.js";

/** One command may open several sessions, and each logs the same about this directory. */
const told = new Set<string>();
const log = logTo((line) => {
  if (!told.has(line)) process.stderr.write(sanitizeForTerminal(line));
  told.add(line);
});

export async function runPendingCommand(verb: string, words: readonly string[]): Promise<void> {
  ignoreBrokenStderr();
  ignoreBrokenPipe(log);
  const request = parsePendingWords(verb, words);
  if (request === "help") return;
  const { sessionDir } = request;
  const location: PendingLocation = { cwd: process.cwd(), agentDir: agentDirectory(process.env), sessionDir, log };
  const release = keepAlive();
  reportUncaught(log);
  try {
    const reason = await verbs[request.verb](location, request);
    process.exitCode = exitCodes[reason];
  } catch (error) {
    process.stderr.write(sanitizeForTerminal(`galley: ${messageOf(error)}\n`));
    process.exitCode = exitCodes[reasonOf(error)];
  } finally {
    release();
  }
}

type Verb = (location: PendingLocation, words: PendingWords) => Promise<ExitReason>;

const verbs: { [V in PendingWords["verb"]]: Verb } = {
  pending: async (location, { isJson }) => {
    const found = await listPendingSessions(location);
    const all = found.flatMap(({ session, actions }) => actions.map((action) => ({ ...action, session: session.id })));
    if (isJson) printJson({ actions: all });
    else print(all.length === 0 ? "Nothing pending.\n" : sanitizeForTerminal(all.map(lineOf).join("")));
    return "done";
  },
  show: async (location, { ids, isJson }) => {
    const { action } = findAction(await listPendingSessions(location, { diff: true }), ids[0] ?? "");
    if (isJson) printJson({ action });
    else print(shown(action));
    return "done";
  },
  apply: settle,
  discard: settle,
  undo: takeBack,
  redo: takeBack,
  recover: async (location, { isJson }) => {
    const outcomes = await recoverProject(location);
    if (!outcomes) throw new GalleyError("busy", "Another galley process is applying changes and will finish this.");
    if (isJson) printJson({ outcomes });
    else
      print(outcomes.length === 0 ? "Nothing to recover.\n" : sanitizeForTerminal(outcomes.map(outcomeLine).join("")));
    return "done";
  },
};

function outcomeLine({ txid, result, foreign }: ChangeOutcome): string {
  const left = foreign.length === 0 ? "" : ` Left alone, changed by another program: ${foreign.join(", ")}.`;
  return `ch_${txid.slice(0, 8)} was ${result === "applied" ? "finished: all files are new." : "taken back: all files are old."}${left}\n`;
}

interface Decided {
  id: string;
  outcome: string;
  text: string;
  error?: string;
}

async function settle(
  location: PendingLocation,
  { verb, ids, isAll, isJson, reason, files }: PendingWords,
): Promise<ExitReason> {
  const found = await listPendingSessions(location);
  const chosen = isAll ? found.flatMap(({ session, actions }) => actions.map(({ id }) => ({ session, id }))) : [];
  for (const id of ids) chosen.push(findAction(found, id));
  const results: Decided[] = [];
  const action = verb === "discard" ? "discard" : "apply";
  const isApply = action === "apply";
  let failure: ExitReason | undefined;
  const fail = (failed: readonly string[], error: unknown) => {
    const text = messageOf(error);
    const outcome = GalleyError.is(error, "stale_preview") ? "stale" : "failed";
    for (const id of failed) results.push({ id, outcome, text, error: text });
    process.stderr.write(sanitizeForTerminal(`galley: ${text}\n`));
    failure ??= reasonOf(error);
  };
  for (const [path, group] of groupBySession(chosen)) {
    if (failure && isApply) break;
    const waiting = new Set(group);
    const work = async (session: AgentSession) => {
      for (const id of group) {
        waiting.delete(id);
        // It may have ended together with another one that one of them depends on: then that was printed.
        if (!(await session.getPendingActions({ ids: [id] })).length) continue;
        const also: Decided[] = [];
        const unsubscribe = session.subscribe((event) => {
          if (event.type !== "pending_action_resolved" || event.id === id) return;
          if (event.outcome === "orphaned") return; // lost with its process, without a decision
          also.push({ id: event.id, outcome: event.outcome, text: event.reason });
        });
        try {
          const request = { action, reason, by: "user", pendingId: id, ...(files ? { files } : {}) } as const;
          // Naming everything that is needed is enough: the rest of the group is decided by the same words.
          const { text } = await session.resolvePendingAction(request).catch((error: unknown) => {
            if (!needsOnly(error, group)) throw error;
            return session.resolvePendingAction({ ...request, withDeps: true });
          });
          results.push({ id, outcome: isApply ? "applied" : "discarded", text }, ...also);
          if (!isJson) print(sanitizeForTerminal(`${text}\n`));
        } catch (error) {
          fail([id], error);
          if (isApply) return; // the rest may depend on it
        } finally {
          unsubscribe();
        }
      }
    };
    // Decisions in other sessions are printed even if one cannot be opened. An apply stops there, at one action.
    await withSessionFile(location, path, work).catch((error: unknown) =>
      fail([...waiting].slice(0, isApply ? 1 : undefined), error),
    );
  }
  if (isJson) printJson({ results });
  else if (results.length === 0) print("Nothing pending.\n");
  return failure ?? "done";
}

async function takeBack(
  location: PendingLocation,
  { verb, ids, isJson, isPreview, reason }: PendingWords,
): Promise<ExitReason> {
  const owner = await ownerOf(location, { verb, ids, isPreview });
  return withSessionFile(location, owner, async (session) => {
    const request = { isWholeRoot: true, ...(isPreview ? {} : { apply: { by: "user", reason } as const }) };
    const { action, result, code, changeId } =
      verb === "undo" ? await session.undo({ ...request, changeId: ids[0] }) : await session.redo(request);
    const text = result ? result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n") : "";
    if (result?.isError) throw new GalleyError(code ?? "apply_failed", text);
    if (isPreview) keepSession(session, reason);
    const made = { ids: changeId === undefined ? [] : [changeId], isWholeRoot: true, withDiff: !isJson };
    const [change] = await session.getChanges(made);
    const [view] = isPreview ? await session.getPendingActions({ ids: [action.id], diff: true }) : [];
    // A new session numbers from one, as other sessions here did.
    const name = owner === undefined ? `${session.sessionId}:${action.id}` : action.id;
    const also = location.sessionDir === undefined ? "" : ` --session-dir ${shellWord(location.sessionDir)}`;
    const staged = `Staged as ${action.id} – files NOT modified. Apply it with: galley apply ${name}${also}`;
    if (isJson) {
      printJson({
        ...(change ? { change } : {}),
        ...(isPreview ? { pendingId: action.id } : {}),
        text: text || staged,
      });
    } else if (view) print(`${shown(view)}\n${staged}\n`);
    else print(`${change ? `${diffsOf(change)}\n` : ""}${sanitizeForTerminal(text)}\n`);
    return isPreview ? "pending" : "done";
  });
}

/** A new session gets a file with its first message, and what was staged in it has to be kept. */
function keepSession({ sessionManager }: AgentSession, text: string): void {
  if (sessionManager.isOnDisk) return;
  const content = [{ type: "text" as const, text }];
  sessionManager.appendMessage({ role: "user", content, attribution: "user", timestamp: Date.now() });
}

/**
 * Undo stages in the session that made the change, or in a new one where that session has no file. Pending actions are
 * found by the other commands, which look only at the sessions of this directory.
 */
async function ownerOf(
  location: PendingLocation,
  { verb, ids: [changeId], isPreview }: Pick<PendingWords, "verb" | "ids" | "isPreview">,
): Promise<string | undefined> {
  const owner = await withSessionFile(location, undefined, async (session) => {
    const changes = await session.getChangeOwners();
    const candidates = changeId === undefined ? changes : changes.filter(({ id }) => id === changeId);
    const wanted =
      candidates.find(({ isUndo, isUndone }) => !isUndone && isUndo === (verb === "redo")) ?? candidates[0];
    const file = wanted?.session ?? "";
    return isAbsolute(file) && existsSync(file) ? file : undefined;
  });
  if (owner === undefined || !isPreview) return owner;
  return (await listSessions(location)).some(({ path }) => path === owner) ? owner : undefined;
}

interface FoundAction {
  session: PendingSession["session"];
  id: string;
  action: PendingActionView;
}

/** `pa_1`, or `<session>:pa_1` where several sessions have one. */
function findAction(found: readonly PendingSession[], given: string): FoundAction {
  const [, of, id = given] = /^(.+):([^:]+)$/.exec(given) ?? [];
  const matches = found.flatMap(({ session, actions }) =>
    actions
      .filter((action) => action.id === id && (of === undefined || session.id === of))
      .map((action) => ({ session, id, action })),
  );
  const [only, ...others] = matches;
  if (!only) {
    const pending = found.flatMap(({ actions }) => actions.map((action) => action.id)).join(", ") || "none";
    throw new GalleyError("usage", `No pending action with id "${given}". Pending: ${pending}.`);
  }
  if (others.length === 0) return only;
  const names = matches.map(({ session }) => `${session.id}:${id}`).join(", ");
  throw new GalleyError("usage", `Several sessions have a pending action ${id}. Name one: ${names}.`);
}

function groupBySession(chosen: readonly { session: PendingSession["session"]; id: string }[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { session, id } of chosen) groups.set(session.path, [...(groups.get(session.path) ?? []), id]);
  return groups;
}

/** Whether an apply was refused only because of other actions that are decided with it. */
function needsOnly(error: unknown, ids: readonly string[]): boolean {
  if (!GalleyError.is(error, "depends")) return false;
  const { actions = [] } = error.details as { actions?: { id: string }[] };
  return actions.every(({ id }) => ids.includes(id));
}

function reasonOf(error: unknown): ExitReason {
  if (["usage", "invalid_argument", "depends"].some((code) => error instanceof GalleyError && error.code === code))
    return "usage";
  return GalleyError.is(error, "file_refused") ? "denied" : "failed";
}

function lineOf({ id, status, label, sourceToolName, createdAt }: PendingActionView): string {
  return `${id}  ${status}  ${label}  (${sourceToolName}, ${ageText(Date.now() - createdAt)})\n`;
}

function shown({ label, files = [] }: PendingActionView): string {
  const list = files.map(
    ({ path, kind = "modify", added = 0, removed = 0 }) => `  ${kind} ${path} (+${added} -${removed})\n`,
  );
  return `${sanitizeForTerminal(`${label}\n${list.join("")}`)}\n${diffsOf({ files })}`;
}

function diffsOf({ files }: { files: readonly { diff?: string }[] }): string {
  const diffs = files.map(({ diff = "" }) => diff).join("");
  return colouredDiff(sanitizeForTerminal(diffs), process.stdout);
}

/** As it is: the caller has cleaned foreign text before it added the colours. */
function print(text: string): void {
  process.stdout.write(text);
}

function printJson(document: object): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

/** Not every wait of ours keeps a process alive by itself. */
function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30);
  return () => clearInterval(timer);
}
