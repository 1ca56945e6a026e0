// `galley apply` and `galley discard`: whole actions or parts of them, each in the session that staged it. What was
// written is told file by file, from the change itself.

import { GalleyError, messageOf } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { Change } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import { listPendingSessions, type PendingLocation, projectRoot, withSessionFile } from "../../sdk/pending-sessions.js";
import { chooseFiles, chooseHunks } from "../../sdk/review/choose-files.js";
import { dependsText } from "../../sdk/review/depends-text.js";
import { findAction } from "../../sdk/review/find-by-id.js";
import type { ListedAction } from "../../sdk/review/listed-action.js";
import type { ExitReason } from "../exit-codes.js";
import { shellWord } from "../shell-word.js";
import { countText, figuresText } from "../table.js";
import type { PendingWords } from "./pending-words.js";
import { print, printError, printJson, reasonOf } from "./review-output.js";
import { inProject } from "./review-show.js";
import { writtenText } from "./review-text.js";

/** What is to be decided about one action; without files or hunks: all of it. */
interface Decision {
  readonly listed: ListedAction;
  readonly files?: readonly string[];
  readonly hunks?: Record<string, number[]>;
}

/** As the JSON document tells it. */
interface Decided {
  readonly id: string;
  readonly outcome: string;
  readonly text: string;
  readonly error?: string;
  readonly changeId?: string;
  readonly files?: Change["files"];
}

export async function settle(location: PendingLocation, words: PendingWords): Promise<ExitReason> {
  const isJson = words.flags.has("json");
  const isApply = words.verb === "apply";
  const results: Decided[] = [];
  let failure: ExitReason | undefined;
  const fail = (failed: readonly ListedAction[], error: unknown) => {
    const text = failureText(error, failed, location);
    const outcome = GalleyError.is(error, "stale_preview") ? "stale" : "failed";
    for (const { name } of failed) results.push({ id: name, outcome, text, error: text });
    printError(`galley: ${text}\n`);
    failure ??= reasonOf(error);
  };
  for (const group of groupsOf(await decisionsOf(location, words))) {
    if (failure && isApply) break;
    const waiting = new Set(group);
    const work = async (session: AgentSession) => {
      for (const decision of group) {
        waiting.delete(decision);
        try {
          const decided = await decideOne(session, decision, { location, words });
          results.push(...decided.results);
          if (!isJson) print(decided.text);
        } catch (error) {
          fail([decision.listed], error);
          if (isApply) return; // the rest may depend on it
        }
      }
    };
    const [first] = group;
    // Decisions in other sessions are printed even if one cannot be opened. An apply stops there, at one action.
    await withSessionFile(location, first?.listed.session.path, work).catch((error: unknown) => {
      const open = [...waiting].map(({ listed }) => listed);
      fail(isApply ? open.slice(0, 1) : open, error);
    });
  }
  if (isJson) printJson({ results });
  else if (results.length === 0) print("Nothing pending.\n");
  return failure ?? "done";
}

async function decisionsOf(location: PendingLocation, words: PendingWords): Promise<Decision[]> {
  const { targets, paths, hunks, flags } = words;
  const all = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const from = { cwd: location.cwd, root: projectRoot(location) };
  const staged = async (listed: ListedAction, given: readonly string[]) =>
    (await chooseFiles(listed, given, from)).map((file) => file.staged);
  if (flags.has("all") && paths.length === 0) return all.map((listed) => ({ listed }));
  if (flags.has("all")) {
    await chooseFiles({ name: "what is pending", files: all.flatMap(({ files }) => files) }, paths, from);
    const decisions: Decision[] = [];
    for (const listed of all) {
      const own = await Promise.all(paths.map((path) => staged(listed, [path]).catch(() => [])));
      const files = [...new Set(own.flat())];
      if (files.length > 0) decisions.push({ listed, files });
    }
    return decisions;
  }
  const decisions: Decision[] = [];
  for (const { id, paths: given } of targets) {
    const listed = findAction(all, id);
    decisions.push({
      listed,
      ...(given.length > 0 ? { files: await staged(listed, given) } : {}),
      ...(hunks.length > 0 ? { hunks: await chooseHunks(listed, hunks, from) } : {}),
    });
  }
  return decisions;
}

/** By session. In each the lowest comes first: what rests on it finds it decided. */
function groupsOf(decisions: readonly Decision[]): Decision[][] {
  const groups = new Map<string, Decision[]>();
  for (const decision of decisions) {
    const { path } = decision.listed.session;
    groups.set(path, [...(groups.get(path) ?? []), decision]);
  }
  const numberOf = ({ listed }: Decision) => Number.parseInt(listed.id.slice("pa_".length), 10);
  return [...groups.values()].map((group) => group.sort((a, b) => numberOf(a) - numberOf(b)));
}

async function decideOne(
  session: AgentSession,
  { listed, files, hunks }: Decision,
  { location, words }: { location: PendingLocation; words: PendingWords },
): Promise<{ results: Decided[]; text: string }> {
  const { id, name } = listed;
  const action = words.verb === "discard" ? "discard" : "apply";
  // It may have ended together with another one that one of them depends on: then that was printed.
  if ((await session.getPendingActions({ ids: [id] })).length === 0) return { results: [], text: "" };
  const also: { id: string; label: string; outcome: string; reason: string }[] = [];
  const unsubscribe = session.subscribe((event) => {
    if (event.type !== "pending_action_resolved" || event.id === id) return;
    if (event.outcome === "orphaned") return; // lost with its process, without a decision
    also.push(event);
  });
  try {
    const { details, text } = await session.resolvePendingAction({
      action,
      reason: words.reason,
      by: "user",
      pendingId: id,
      ...(files ? { files } : {}),
      ...(hunks ? { hunks } : {}),
      ...(words.flags.has("with-deps") ? { withDeps: true } : {}),
      ...(words.flags.has("protected") ? { protected: true } : {}),
    });
    const { changeId, hardlinkBroken = [] } = writtenIn(details);
    const nameFile = inProject(location);
    const [change] = changeId ? await session.getChanges({ ids: [changeId], isWholeRoot: true, nameFile }) : [];
    const [rest] = await session.getPendingActions({ ids: [id] });
    const outcome = action === "apply" ? "applied" : "discarded";
    const told = { ...(changeId ? { changeId } : {}), ...(change ? { files: change.files } : {}) };
    const others = also.map((event) => ({ id: event.id, outcome: event.outcome, text: event.reason }));
    const isPart = rest !== undefined;
    const word = `${action === "apply" ? "Applied" : "Discarded"}${isPart ? " a part of" : ""} ${name}`;
    const lines = [
      `${word}${change ? ` as ${change.id}` : ""}: ${change?.label ?? listed.action.label}\n`,
      change ? writtenText(change) : partText(details),
      ...also.map((event) => `  with it: ${event.id} ${event.label}\n`),
      ...hardlinkBroken.map((path) => `  other names of ${path} keep the old bytes\n`),
      rest?.files
        ? `The rest is pending as ${name}: ${countText(rest.files.length, "file")}, ${figuresText(rest.files)}.\n`
        : "",
    ];
    return {
      results: [{ id: name, outcome, text: withoutRest(text), ...told }, ...others],
      text: sanitizeForTerminal(lines.join("")),
    };
  } finally {
    unsubscribe();
  }
}

type Details = Awaited<ReturnType<AgentSession["resolvePendingAction"]>>["details"];

function writtenIn(details: Details): { changeId?: string; hardlinkBroken?: readonly string[] } {
  const { sourceResultDetails } = details as { sourceResultDetails?: { changeId?: string; hardlinkBroken?: string[] } };
  return sourceResultDetails ?? {};
}

/** Which part was discarded, or applied where no change is kept. */
function partText(details: Details): string {
  const { settled = [] } = details as { settled?: { path: string; hunks?: number[] }[] };
  return settled.map(({ path, hunks }) => `  ${path}${hunks ? ` (hunk ${hunks.join(", ")})` : ""}\n`).join("");
}

/** What else is pending in this session may be decided by this very command. */
function withoutRest(text: string): string {
  return text.replace(/\n?Still pending: .*$/, "");
}

function failureText(error: unknown, [listed]: readonly ListedAction[], location: PendingLocation): string {
  const also = location.sessionDir === undefined ? "" : ` --session-dir ${shellWord(location.sessionDir)}`;
  if (!(error instanceof GalleyError) || !listed) return messageOf(error);
  if (error.code === "stale_preview")
    return `${error.message} To make it anew for the files as they are: galley rebase ${listed.name}${also}`;
  if (error.code === "protected")
    return `${error.message} To write them too: galley apply ${listed.name} --protected${also}`;
  if (error.code !== "depends") return error.message;
  return dependsText(error, {
    name: listed.name,
    command: `galley apply ${listed.name} --with-deps${also}`,
    shownPath: (path) => listed.files.find(({ staged }) => staged === path)?.shown ?? path,
    shownLabel: (label) => label,
  });
}
