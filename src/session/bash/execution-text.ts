// A command that the user ran, as a model reads it. Its output is in a fence that it cannot close itself, so
// that an output is never taken for what the user says.

import { isObject } from "../../base/json.js";
import type { BashExecutionMessage } from "../../protocol/messages.js";

type Execution = Pick<BashExecutionMessage, "output" | "cancelled" | "truncated" | "exitCode" | "meta">;

export function executionText(command: string, execution: Execution): string {
  const { output, cancelled, truncated, exitCode, meta } = execution;
  const lines = [`Ran \`${command}\``, output === "" ? "(no output)" : fenced(output.replace(/\n$/, ""))];
  if (truncated) lines.push(truncationNotice(meta));
  if (cancelled) lines.push("(command cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) lines.push(`Command exited with code ${exitCode}`);
  return lines.join("\n");
}

function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** `meta` stands as it was found in a file. */
function truncationNotice(meta: unknown): string {
  const { shownRange, totalLines, artifactId } = isObject(meta) && isObject(meta.truncation) ? meta.truncation : {};
  const { start, end } = isObject(shownRange) ? shownRange : {};
  const isKnown = [start, end, totalLines].every(Number.isInteger);
  const remarks = [isKnown ? `Showing lines ${start}-${end} of ${totalLines}` : "Output truncated"];
  if (typeof artifactId === "string" && /^[\w-]{1,64}$/.test(artifactId))
    remarks.push(`Read artifact://${artifactId} for full output`);
  return `[${remarks.join(". ")}]`;
}
