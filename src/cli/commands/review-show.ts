// `galley show`: the diff of a pending action or of a change, or a table or the names of its files.

import { GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { Change } from "../../protocol/pending.js";
import {
  listChangeOwners,
  listPendingSessions,
  listProjectChanges,
  type PendingLocation,
  projectRoot,
} from "../../sdk/pending-sessions.js";
import { chooseFiles } from "../../sdk/review/choose-files.js";
import { findAction, findChange, isChangeId } from "../../sdk/review/find-by-id.js";
import { diffsOf, type ListedAction, type ListedFile, shownInProject } from "../../sdk/review/listed-action.js";
import type { ExitReason } from "../exit-codes.js";
import type { PendingWords, Target } from "./pending-words.js";
import { print, printJson, printLong } from "./review-output.js";
import { aboutAction, aboutChange, diffText, statText } from "./review-tables.js";

export async function show(location: PendingLocation, words: PendingWords): Promise<ExitReason> {
  const [target = { id: "", paths: [] }] = words.targets;
  return isChangeId(target.id) ? showChange(location, words, target) : showAction(location, words, target);
}

async function showAction(location: PendingLocation, { flags }: PendingWords, target: Target): Promise<ExitReason> {
  const found = await listPendingSessions(location);
  const listed = findAction(
    found.flatMap(({ actions }) => actions),
    target.id,
  );
  const { misfit, damage } = listed.stored;
  if (damage !== undefined) throw new GalleyError("file_changed", misfit ?? damage);
  const chosen = await chosenFiles(location, listed, target.paths);
  const files = (listed.action.files ?? []).filter(({ path }) => chosen.some(({ shown }) => shown === path));
  if (flags.has("json")) {
    const diffs = flags.has("stat") || flags.has("files") ? [] : await diffsOf(listed, chosen);
    const withDiffs = files.map((file) => ({ ...file, ...diffs.find(({ path }) => path === file.path) }));
    printJson({ action: { ...jsonOf(listed), files: withDiffs } });
  } else if (flags.has("files")) print(namesOf(files));
  else if (flags.has("stat")) print(statText(files, gitIn(listed.action, files)));
  else {
    const diffs = diffText(await diffsOf(listed, chosen));
    await printLong(`${aboutAction(listed, Date.now())}\n${statText(files, gitIn(listed.action, files))}\n${diffs}`);
  }
  return "done";
}

/** Where git's own data is among the files. */
function gitIn(
  { git }: { readonly git?: string },
  files: readonly { readonly isGitData?: boolean }[],
): string | undefined {
  return files.some(({ isGitData }) => isGitData) ? git : undefined;
}

async function showChange(location: PendingLocation, { flags }: PendingWords, target: Target): Promise<ExitReason> {
  const named: ListedFile[] = [];
  const nameFile = (path: string) => {
    const shown = inProject(location)(path);
    named.push({ path, shown, staged: shown });
    return shown;
  };
  const all = await listChangeOwners(location);
  const id = findChange(
    all.map((change) => change.id),
    target.id,
  );
  const [change] = await listProjectChanges(location, { ids: [id], withDiff: true, nameFile });
  if (!change) return "failed"; // another process dropped it just now
  const chosen = await chosenFiles(location, { name: id, files: named }, target.paths);
  const files = change.files.filter(({ path }) => chosen.some(({ shown }) => shown === path));
  if (flags.has("json")) printJson({ change: { ...change, files } });
  else if (flags.has("files")) print(namesOf(files));
  else if (flags.has("stat")) print(statText(files, gitIn(change, files)));
  else {
    const stat = statText(files, gitIn(change, files));
    await printLong(`${aboutChange(change, Date.now())}\n${stat}\n${diffText(files)}${lostText(files)}`);
  }
  return "done";
}

function lostText(files: Change["files"]): string {
  const lost = files.filter(({ diff, isGitData }) => diff === undefined && !isGitData).map(({ path }) => path);
  if (lost.length === 0) return "";
  return sanitizeForTerminal(`Written again since, so that the diff is not known: ${lost.join(", ")}\n`);
}

async function chosenFiles(
  location: PendingLocation,
  of: Pick<ListedAction, "name" | "files">,
  paths: readonly string[],
): Promise<readonly ListedFile[]> {
  if (paths.length === 0) return of.files;
  return chooseFiles(of, paths, { cwd: location.cwd, root: projectRoot(location) });
}

function namesOf(files: readonly { readonly path: string }[]): string {
  return sanitizeForTerminal(files.map(({ path }) => `${path}\n`).join(""));
}

/** How files are named in this project. */
export function inProject(location: PendingLocation): (path: string) => string {
  const root = projectRoot(location);
  return (path) => shownInProject(path, root);
}

/** A pending action for programs. */
export function jsonOf({ action, name, session, prompt, restsOn, stored }: ListedAction): object {
  return { ...action, name, session: session.id, ...(prompt === "" ? {} : { prompt }), restsOn, damage: stored.damage };
}
