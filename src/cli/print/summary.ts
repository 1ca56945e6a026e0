// What a one-shot run tells at its end: what it wrote, what others wrote for it, what failed, what waits and how to
// decide it, what it took. It states what was found on the disk, and what is not known.

import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import type { PendingActionView } from "../../protocol/pending.js";
import type { ChangedBesides } from "../../sdk/run-report/changed-besides.js";
import type { RunReport } from "../../sdk/run-report/watch-run.js";
import { shellWord } from "../shell-word.js";
import { amountText, changeText, countText } from "./figures.js";

export interface LeftPreviews {
  /** Plans; they can be decided later if the session is kept. */
  readonly plans: readonly PendingActionView[];
  /** Of custom tools: they end with the process. */
  readonly callbacks: readonly PendingActionView[];
  readonly isKept: boolean;
  readonly persistError: string | undefined;
  /** The directory that the command line named. */
  readonly sessionDir: string | undefined;
  /** The command line already says that the model decides. */
  readonly isAuto: boolean;
}

const maxListed = 50;
const maxFailures = 10;

/** Whole lines, or nothing. `message`: what is said about the run's failure anyway. */
export function summaryText(report: RunReport, left: LeftPreviews, message = ""): string {
  const { written, failed, turns } = report;
  const untold = failed.filter(({ why }) => !message.includes(why));
  const blocks = [
    listing("Written:", written.map(fileLine)),
    besidesText(report.besides),
    written.length === 0 ? "" : "Take back what was written with  galley undo --run\n",
    listing("Failed or refused:", untold.map(failureLine), maxFailures),
    leftText(left),
    turns === 0 ? "" : `${[countText(turns, "turn"), ...amountText(report)].join(", ")}\n`,
  ];
  return sanitizeForTerminal(blocks.join(""));
}

/** What happened to previews that were not decided; empty if there are none. */
export function leftText(left: LeftPreviews): string {
  const { plans, isKept } = left;
  const listed = plans.flatMap((plan) => [`${plan.id}  ${plan.label}`, ...(plan.files ?? []).map(plannedLine)]);
  const waiting = isKept
    ? listing("Pending, not written yet:", listed) + commandsText(left)
    : listing("Not applied, and gone with the run:", listed) + goneText(left);
  return (plans.length === 0 ? "" : waiting) + callbacksText(left);
}

function commandsText({ plans, sessionDir }: LeftPreviews): string {
  const [only, ...others] = plans;
  const name = others.length === 0 ? (only?.id ?? "") : "ID";
  const where = sessionDir === undefined ? "" : ` --session-dir ${shellWord(sessionDir)}`;
  const all = others.length === 0 ? "" : ` (or --all)`;
  return `See it with  galley show ${name}${where}
Decide with  galley apply ${name}${where}  or  galley discard ${name}${where}${all}
`;
}

function goneText({ persistError }: LeftPreviews): string {
  if (persistError !== undefined) return `The session could not be kept (${persistError}).\n`;
  return "The session is not kept. Run it again with --yes, or without --no-session to decide later.\n";
}

function callbacksText({ callbacks, isAuto }: LeftPreviews): string {
  if (callbacks.length === 0) return "";
  const listed = callbacks.map(({ id, label, lastError }) => {
    const tried = lastError === undefined ? "" : `  (its apply failed: ${oneLine(lastError, 200)})`;
    return `${id}  ${label}${tried}`;
  });
  const ways = [...(isAuto ? [] : ["--auto (the model decides)"]), "--yes (applied at the end)"].join(" or ");
  return `${listing("Discarded undecided, because it cannot outlive the run:", listed)}Run it again with ${ways}\n`;
}

function besidesText(besides: ChangedBesides): string {
  if (besides.kind === "none") return "";
  if (besides.kind === "unknown") return `What commands and custom tools changed is not known: ${besides.reason}.\n`;
  return listing("Changed by commands or custom tools (galley cannot take this back):", besides.files.map(fileLine));
}

function listing(title: string, lines: readonly string[], max = maxListed): string {
  if (lines.length === 0) return "";
  const more = lines.length > max ? [`and ${lines.length - max} more`] : [];
  return [title, ...[...lines.slice(0, max), ...more].map((line) => `  ${line}`)].map((line) => `${line}\n`).join("");
}

const kindWords: Readonly<Record<string, string>> = { create: "new", delete: "deleted", rename: "renamed" };

interface ListedFile {
  readonly shownPath: string;
  readonly kind?: string | undefined;
  readonly added?: number;
  readonly removed?: number;
}

function fileLine({ shownPath, kind = "", ...figures }: ListedFile): string {
  return [shownPath, changeText(figures), kindWords[kind] ?? ""].filter((part) => part !== "").join("  ");
}

function plannedLine(file: NonNullable<PendingActionView["files"]>[number]): string {
  const { path, kind, added, removed } = file;
  const figures = { ...(added === undefined ? {} : { added }), ...(removed === undefined ? {} : { removed }) };
  return `      ${fileLine({ shownPath: path, kind, ...figures })}`;
}

function failureLine({ tool, target, why }: RunReport["failed"][number]): string {
  return `${target === "" ? tool : `${tool} ${target}`}: ${why}`;
}
