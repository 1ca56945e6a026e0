// The review verbs: what sessions of this project staged and changed, shown and decided from the command line. Text for
// users, one JSON document for programs, an exit code for scripts.

import { realpathSync } from "node:fs";
import { GalleyError, messageOf } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import {
  type ChangeOutcome,
  changeIdOf,
  isHalfApplied,
  listDamagedChanges,
  listPendingSessions,
  listProjectChanges,
  type PendingLocation,
  recoverProject,
} from "../../sdk/pending-sessions.js";
import { type ExitReason, exitCodes } from "../exit-codes.js";
import { ignoreBrokenStderr } from "../guard-stdout.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { reportUncaught } from "../report-uncaught.js";
import { type PendingVerb, type PendingWords, parsePendingWords } from "./pending-words.js";
import { decide, rebase } from "./review-decide.js";
import { hideSecrets, print, printError, printJson, reasonOf } from "./review-output.js";
import { inProject, jsonOf, show } from "./review-show.js";
import { changesText, pendingText } from "./review-tables.js";
import { takeBack } from "./review-undo.js";

/** One command may open several sessions, and each logs the same about this directory. */
const told = new Set<string>();
const log = logTo((line) => {
  if (!told.has(line)) printError(line);
  told.add(line);
});

export async function runPendingCommand(verb: PendingVerb, words: readonly string[]): Promise<void> {
  ignoreBrokenStderr();
  ignoreBrokenPipe(log);
  const request = parsePendingWords(verb, words);
  const cwd = realpathSync(process.cwd());
  const location: PendingLocation = { cwd, agentDir: agentDirectory(process.env), sessionDir: request.sessionDir, log };
  const release = keepAlive();
  reportUncaught(log);
  try {
    await hideSecrets(location);
    const reason = await verbs[request.verb](location, request);
    process.exitCode = exitCodes[reason];
  } catch (error) {
    printError(`galley: ${messageOf(error)}\n`);
    process.exitCode = exitCodes[reasonOf(error)];
  } finally {
    release();
  }
}

type Verb = (location: PendingLocation, words: PendingWords) => Promise<ExitReason>;

const verbs: { [V in PendingWords["verb"]]: Verb } = {
  pending: async (location, { flags }) => {
    const found = await listPendingSessions(location);
    const interrupted = await isHalfApplied(location);
    const actions = found.flatMap((each) => each.actions);
    const unreadable = found.filter(({ damage }) => damage !== undefined);
    if (flags.has("json")) {
      const damagedSessions = unreadable.map(({ session, damage }) => ({ path: session.path, damage }));
      printJson({ actions: actions.map(jsonOf), damagedSessions, interrupted: interrupted || undefined });
    } else {
      print(found.length === 0 ? "Nothing pending.\n" : pendingText(found, Date.now()));
      if (interrupted) print("A change is half applied here, or is being applied now. To finish it: galley recover\n");
    }
    return unreadable.length > 0 || actions.some(({ stored }) => stored.damage !== undefined) ? "failed" : "done";
  },
  show,
  apply: decide,
  discard: decide,
  rebase,
  changes: async (location, { flags }) => {
    const changes = await listProjectChanges(location, { nameFile: inProject(location) });
    const damaged = await listDamagedChanges(location);
    if (flags.has("json")) printJson({ changes, damaged });
    else {
      const rows = damaged.map(({ id, reason }) => `${id}  damaged (${reason}): it cannot be undone\n`).join("");
      print(
        changes.length + damaged.length === 0 ? "No change is kept here.\n" : changesText(changes, Date.now()) + rows,
      );
    }
    return damaged.length > 0 ? "failed" : "done";
  },
  undo: takeBack,
  redo: takeBack,
  recover: async (location, { flags }) => {
    const outcomes = await recoverProject(location);
    if (!outcomes) throw new GalleyError("busy", "Another galley process is applying changes and will finish this.");
    if (flags.has("json")) printJson({ outcomes });
    else
      print(outcomes.length === 0 ? "Nothing to recover.\n" : sanitizeForTerminal(outcomes.map(outcomeLine).join("")));
    return "done";
  },
};

function outcomeLine({ txid, result, foreign }: ChangeOutcome): string {
  const left = foreign.length === 0 ? "" : ` Left alone, changed by another program: ${foreign.join(", ")}.`;
  return `${changeIdOf(txid)} was ${result === "applied" ? "finished: all files are new." : "taken back: all files are old."}${left}\n`;
}

/** Not every wait of ours keeps a process alive by itself. */
function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30);
  return () => clearInterval(timer);
}
