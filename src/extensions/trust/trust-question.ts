// The question whether a project may run its own code, in words: every item with its path and its whole command, and
// what changed. Names and commands come from strangers, so invisible characters are written out.

import { writtenOut } from "../../base/written-out.js";
import type { TrustItem, TrustItemKind } from "./digest-project.js";
import { entriesOf, type TrustChange, type TrustDecision } from "./trust.js";

export interface TrustQuestion {
  readonly title: string;
  readonly lines: readonly string[];
}

export function trustQuestion(decision: TrustDecision): TrustQuestion {
  const { root, items, changedSince, isForeign, problem } = decision;
  const { asked, trustedCount } = askedAbout(decision);
  return {
    title: `Trust ${visible(root)} to run its own code?`,
    lines: [
      ...(isForeign ? ["This directory belongs to another user."] : []),
      ...(problem === undefined ? [] : [`${problem}.`]),
      ...(changedSince ? changeLines(changedSince) : []),
      ...(items.length === 0 ? ["There is nothing in it that galley would run."] : itemLines(asked)),
      ...(trustedCount === 0 ? [] : [`Already trusted and unchanged: ${trustedCount}.`]),
    ],
  };
}

/** What is not trusted yet, with the files it loads; everything where there is nothing left to decide. */
function askedAbout({ items, trusted }: TrustDecision): { asked: readonly TrustItem[]; trustedCount: number } {
  const entries = entriesOf(items);
  const open = entries.filter((item) => !trusted.has(item));
  if (open.length === 0 || open.length === entries.length) return { asked: items, trustedCount: 0 };
  const loaded = new Set(open.flatMap(({ loads = [] }) => loads));
  // "." says why a search for imports was cut short.
  const isAsked = (item: TrustItem) =>
    item.digest === undefined ? loaded.has(item.name) || item.name === "." : !trusted.has(item);
  return { asked: items.filter(isAsked), trustedCount: entries.length - open.length };
}

const headings: Readonly<Record<TrustItemKind, string>> = {
  tool: "Tools it would load:",
  command: "Commands it would load:",
  extension: "Extensions it would load:",
  hook: "Hooks it would load:",
  mcp: "Servers it would start or ask:",
  setting: "Settings it would make:",
  prompt: "Prompts it would offer or begin with:",
  skill: "Skills it would offer to the model:",
  rule: "Rules it would hold the model to:",
  file: "Files that these load:",
  package: "Package manifests that decide what is loaded:",
};

function itemLines(items: readonly TrustItem[]): string[] {
  return (Object.keys(headings) as TrustItemKind[]).flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    return own.length === 0 ? [] : [headings[kind], ...own.map((item) => `  ${itemLine(item)}`)];
  });
}

function itemLine({ name, target, argv, value, problem, computedLines }: TrustItem): string {
  return [
    visible(name),
    ...(target === undefined ? [] : [`-> ${visible(target)}`]),
    ...(argv ? [`runs ${argv.map(visible).join(" ")}`] : []),
    ...(value === undefined ? [] : [`= ${shortened(writtenOut(JSON.stringify(value) ?? ""))}`]),
    ...(computedLines ? [`(puts names of files together in line ${computedLines.slice(0, 5).join(", ")})`] : []),
    ...(problem === undefined ? [] : [`(${writtenOut(problem)}; it will not be loaded)`]),
  ].join(" ");
}

function changeLines({ decidedAt, added, removed, changed }: TrustChange): string[] {
  const line = (word: string, names: readonly string[]) => names.map((name) => `  ${word} ${visible(name)}`);
  return [
    `Since it was trusted on ${writtenOut(decidedAt)}:`,
    ...line("changed", changed),
    ...line("new", added),
    ...line("gone", removed),
  ];
}

/** A name or an argument as one word: in quotes when anything in it could be misread. */
export function visible(text: string): string {
  const isPlain = /^[\p{L}\p{N}_./@:+,=%~#-]+$/u.test(text) && writtenOut(text) === text;
  return shortened(isPlain ? text : writtenOut(JSON.stringify(text)));
}

const maxShown = 4000;

function shortened(text: string): string {
  const rest = text.length - maxShown;
  return rest <= 0 ? text : `${text.slice(0, maxShown)}⟨${rest} more characters⟩`;
}
