// A unified diff from replacements whose places are known: nothing has to be searched for.

import type { PlannedFile } from "./ast-rewrite.js";

const contextLines = 3;

export function unifiedDiff({ target, before, after, replacements }: PlannedFile): string {
  const oldLines = linesOf(before);
  const newLines = linesOf(after);
  const hunks = groupBlocks(changedBlocks(replacements)).map((blocks) => hunkText(blocks, oldLines, newLines));
  return [`--- a/${target.displayPath}\n`, `+++ b/${target.displayPath}\n`, ...hunks].join("");
}

/** Whole lines that change together; indexes from 0, ends exclusive and possibly behind the last line. */
interface Block {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

function changedBlocks(replacements: PlannedFile["replacements"]): Block[] {
  const blocks: Block[] = [];
  let shift = 0;
  for (const { startLine, before, after } of replacements) {
    const start = startLine - 1;
    // Up to the line on which the replaced span ends: also when the span took a line feed along and joins two lines.
    const end = start + newlines(before) + 1;
    const newStart = start + shift;
    shift += newlines(after) - newlines(before);
    const last = blocks.at(-1);
    if (last && start < last.oldEnd) {
      last.oldEnd = Math.max(last.oldEnd, end);
      last.newEnd = last.oldEnd + shift;
    } else blocks.push({ oldStart: start, oldEnd: end, newStart, newEnd: end + shift });
  }
  return blocks;
}

/** Blocks whose surroundings touch share a hunk. */
function groupBlocks(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    if (group && previous && block.oldStart - previous.oldEnd <= 2 * contextLines) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

function hunkText(blocks: readonly Block[], oldLines: readonly string[], newLines: readonly string[]): string {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last) return "";
  const oldFrom = Math.max(0, first.oldStart - contextLines);
  const newFrom = first.newStart - (first.oldStart - oldFrom);
  const lines: string[] = [];
  let position = oldFrom;
  for (const { oldStart, oldEnd, newStart, newEnd } of blocks) {
    for (const line of oldLines.slice(position, oldStart)) lines.push(` ${line}`);
    for (const line of oldLines.slice(oldStart, oldEnd)) lines.push(`-${line}`);
    for (const line of newLines.slice(newStart, newEnd)) lines.push(`+${line}`);
    position = oldEnd;
  }
  for (const line of oldLines.slice(position, last.oldEnd + contextLines)) lines.push(` ${line}`);
  const size = (sign: string) => lines.filter((line) => line.startsWith(" ") || line.startsWith(sign)).length;
  const header = `@@ -${range(oldFrom, size("-"))} +${range(newFrom, size("+"))} @@\n`;
  const marked = lines.map((line) => (line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`));
  return header + marked.join("");
}

/** An empty range is named by the line before it. */
function range(from: number, length: number): string {
  return `${length === 0 ? from : from + 1},${length}`;
}

function linesOf(bytes: Uint8Array): string[] {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function newlines(text: string): number {
  return text.split("\n").length - 1;
}
