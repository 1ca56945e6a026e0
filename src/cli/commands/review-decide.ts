// `galley apply` and `galley discard`: whole actions or parts of them, each in the session that staged it. What was
// written is told file by file, from the change itself.

import { GalleyError, messageOf } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { Change, PendingOutcome } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import {
  endedSince,
  listPendingSessions,
  type PendingLocation,
  projectRoot,
  withSessionFile,
} from "../../sdk/pending-sessions.js";
import { chooseFiles, chooseHunks } from "../../sdk/review/choose-files.js";
import { appliedChangeOf, dependsOn, endedElsewhere, forUser, neededBy } from "../../sdk/review/decided.js";
import { dependsText } from "../../sdk/review/depends-text.js";
import { findAction, readId } from "../../sdk/review/find-by-id.js";
import type { ListedAction } from "../../sdk/review/listed-action.js";
import type { ExitReason } from "../exit-codes.js";
import { shellWord } from "../shell-word.js";
import { countText, figuresText } from "../table.js";
import type { PendingWords } from "./pending-words.js";
import { print, printError, printJson, reasonOf } from "./review-output.js";
import { inProject } from "./review-show.js";
import { writtenText } from "./review-tables.js";

/** What is to be decided about one action; without files or hunks: all of it. */
interface Choice {
  readonly listed: ListedAction;
  readonly files?: readonly string[];
  readonly hunks?: Record<string, number[]>;
}

/** As the JSON document tells it. */
interface Result {
  readonly id: string;
  readonly outcome: string;
  readonly text: string;
  readonly error?: string;
  readonly changeId?: string;
  readonly files?: Change["files"];
}

export async function decide(location: PendingLocation, words: PendingWords): Promise<ExitReason> {
  const isJson = words.flags.has("json");
  const isApply = words.verb === "apply";
  const results: Result[] = [];
  const isEnded = new Set<string>();
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
      for (const choice of group) {
        waiting.delete(choice);
        const { id, name, session: of } = choice.listed;
        if (isEnded.has(`${of.path} ${id}`)) continue; // it ended with another one, and was printed with it
        const elsewhere = endedElsewhere(session, id);
        if (elsewhere !== undefined && words.flags.has("all")) continue;
        try {
          if (elsewhere !== undefined) throw decidedElsewhere(name, elsewhere);
          const decided = await decideOne(session, choice, { location, words });
          for (const also of decided.ended) isEnded.add(`${of.path} ${also}`);
          results.push(...decided.results);
          if (!isJson) print(decided.text);
        } catch (error) {
          fail([choice.listed], error);
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

async function decisionsOf(location: PendingLocation, words: PendingWords): Promise<Choice[]> {
  const { targets, paths, hunks, flags } = words;
  const all = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const from = { cwd: location.cwd, root: projectRoot(location) };
  const staged = async (listed: ListedAction, given: readonly string[]) =>
    (await chooseFiles(listed, given, from)).map((file) => file.staged);
  if (flags.has("all") && paths.length === 0) return all.map((listed) => ({ listed }));
  if (flags.has("all")) {
    await chooseFiles({ name: "what is pending", files: all.flatMap(({ files }) => files) }, paths, from);
    const decisions: Choice[] = [];
    for (const listed of all) {
      const own = await Promise.all(paths.map((path) => staged(listed, [path]).catch(() => [])));
      const files = [...new Set(own.flat())];
      if (files.length > 0) decisions.push({ listed, files });
    }
    return decisions;
  }
  const decisions: Choice[] = [];
  for (const { id, paths: given } of targets) {
    const listed = await find(all, id, location);
    decisions.push({
      listed,
      ...(given.length > 0 ? { files: await staged(listed, given) } : {}),
      ...(hunks.length > 0 ? { hunks: await chooseHunks(listed, hunks, from) } : {}),
    });
  }
  return decisions;
}

async function find(all: readonly ListedAction[], given: string, location: PendingLocation): Promise<ListedAction> {
  try {
    return findAction(all, given);
  } catch (error) {
    const { id } = readId(given);
    const end = await endedSince(location, id, performance.timeOrigin);
    throw end === undefined ? error : decidedElsewhere(id, end);
  }
}

function decidedElsewhere(name: string, end: PendingOutcome): GalleyError {
  return new GalleyError("apply_failed", `${name} was ${end} by another process.`);
}

/** The oldest first: what rests on it, in whatever session, finds it decided. Neighbours of one session are one group. */
function groupsOf(choices: readonly Choice[]): Choice[][] {
  const numberOf = ({ listed }: Choice) => Number.parseInt(listed.id.slice("pa_".length), 10);
  const groups: Choice[][] = [];
  for (const choice of [...choices].sort((a, b) => numberOf(a) - numberOf(b))) {
    const last = groups.at(-1);
    if (last?.[0]?.listed.session.path === choice.listed.session.path) last.push(choice);
    else groups.push([choice]);
  }
  return groups;
}

async function decideOne(
  session: AgentSession,
  { listed, files, hunks }: Choice,
  { location, words }: { location: PendingLocation; words: PendingWords },
): Promise<{ results: Result[]; ended: string[]; text: string }> {
  const { id, name } = listed;
  const { decided } = await session.resolvePendingAction({
    action: words.verb === "discard" ? "discard" : "apply",
    reason: words.reason,
    by: "user",
    pendingId: id,
    files,
    hunks,
    withDeps: words.flags.has("with-deps"),
    protected: words.flags.has("protected"),
  });
  const [outcome] = decided.outcomes;
  if (outcome?.kind !== "applied" && outcome?.kind !== "discarded") return { results: [], ended: [], text: "" }; // it was thrown
  const { kind, part, also } = outcome;
  const changeId = appliedChangeOf(decided);
  const nameFile = inProject(location);
  const [change] = changeId ? await session.getChanges({ ids: [changeId], isWholeRoot: true, nameFile }) : [];
  const [rest] = part ? await session.getPendingActions({ ids: [id] }) : [];
  const ended = also.filter((other) => !other.part);
  const reason = kind === "applied" ? neededBy(id) : dependsOn(id);
  const { first, more } = forUser(decided);
  const own = { id: name, outcome: kind, text: [first, ...more].join("\n"), changeId, files: change?.files };
  const broken = (kind === "applied" && outcome.hardlinkBroken) || [];
  const word = `${kind === "applied" ? "Applied" : "Discarded"}${part ? " a part of" : ""} ${name}`;
  const lines = [
    `${word}${change ? ` as ${change.id}` : ""}: ${change?.label ?? listed.action.label}\n`,
    change ? writtenText(change) : partText(part?.chosen ?? []),
    ...ended.map((other) => `  with it: ${other.id} ${other.label}\n`),
    ...broken.map((path) => `  other names of ${path} keep the old bytes\n`),
    rest?.files
      ? `The rest is pending as ${name}: ${countText(rest.files.length, "file")}, ${figuresText(rest.files)}.\n`
      : "",
  ];
  return {
    results: [own, ...ended.map((other) => ({ id: other.id, outcome: kind, text: reason }))],
    ended: ended.map((other) => other.id),
    text: sanitizeForTerminal(lines.join("")),
  };
}

/** Which part was discarded, or applied where no change is kept. */
function partText(chosen: readonly { readonly path: string; readonly hunks?: readonly number[] }[]): string {
  return chosen.map(({ path, hunks }) => `  ${path}${hunks ? ` (hunk ${hunks.join(", ")})` : ""}\n`).join("");
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

// `galley rebase`: a stale pending action made anew for the files as they are now. Writes no file.

export async function rebase(location: PendingLocation, { targets, flags }: PendingWords): Promise<ExitReason> {
  const all = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const listed = findAction(all, targets[0]?.id ?? "");
  const partial = flags.has("partial");
  const { action, left } = await withSessionFile(location, listed.session.path, (session) =>
    session.rebasePendingAction({ pendingId: listed.id, partial, by: "user" }),
  );
  const shown = left.map(({ path, hunks }) => ({ path: shownOf(listed, path), hunks }));
  if (flags.has("json")) printJson({ action, left: shown });
  if (left.length > 0 && !partial)
    throw new GalleyError(
      "stale_preview",
      [
        `${listed.name} was left as it is. These hunks no longer find their lines:`,
        ...shown.map(leftLine),
        `Leave them out with: galley rebase ${listed.name} --partial`,
      ].join("\n"),
    );
  if (flags.has("json")) return "done";
  const { files = [], revision } = action;
  const lines = [
    `Rebased ${listed.name}, revision ${revision}: ${countText(files.length, "file")}, ${figuresText(files)}. Nothing is written yet.`,
    ...(shown.length === 0 ? [] : ["Left out, because they no longer find their lines:", ...shown.map(leftLine)]),
    `See it with: galley show ${listed.name}`,
  ];
  print(sanitizeForTerminal(`${lines.join("\n")}\n`));
  return "done";
}

function leftLine({ path, hunks }: { path: string; hunks: readonly number[] }): string {
  return `  ${path} (hunk ${hunks.join(", ")})`;
}

function shownOf({ files }: ListedAction, path: string): string {
  return files.find(({ staged }) => staged === path)?.shown ?? path;
}
