// What a one-shot run tells at its end: what it wrote, what others wrote for it, what failed, what waits and how to
// decide it, what it took. It states what was found on the disk, and what is not known.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { ChangedBesides } from "../../sdk/run-report/changed-besides.js";
import type { RunReport } from "../../sdk/run-report/watch-run.js";
import { amountText, countText } from "./figures.js";
import { type LeftPreviews, leftText } from "./left-previews.js";
import { fileLine, listing } from "./listing.js";

/** A command may make thousands of files, and a model may fail without end. */
const maxUntold = 200;
const maxFailures = 50;

/** Whole lines, or nothing. `message`: what is said about the run's failure anyway. */
export function summaryText(report: RunReport, left: LeftPreviews, message = ""): string {
  const { written, failed, turns } = report;
  const untold = failed.filter(({ why }) => why !== message);
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

function besidesText(besides: ChangedBesides): string {
  if (besides.kind === "none") return "";
  if (besides.kind === "unknown") return `What commands and custom tools changed is not known: ${besides.reason}.\n`;
  const title = "Changed by commands or custom tools (galley cannot take this back):";
  return listing(title, besides.files.map(fileLine), maxUntold);
}

function failureLine({ tool, target, why }: RunReport["failed"][number]): string {
  return `${target === "" ? tool : `${tool} ${target}`}: ${why}`;
}
