// The two lines below the editor: where, how, with which model, at what cost. When it is narrow the less important goes
// first; what is pending, the model and the access mode never go.

import { visibleWidth } from "@earendil-works/pi-tui";
import { oneLine } from "../base/sanitize.js";
import type { AgentSession, Theme } from "../sdk/index.js";
import { cutTo } from "./cut-to.js";

export interface FooterFacts {
  readonly session: AgentSession;
  readonly access: string;
  readonly directory: string;
  readonly branch: string | undefined;
  readonly pending: number;
  /** What stands there in warning colour. */
  readonly warnings: readonly string[];
}

export function footerLines(
  { session, access, directory, branch, pending, warnings }: FooterFacts,
  theme: Theme,
  width: number,
): string[] {
  const { model, thinkingLevel, sessionName } = session;
  const place = [
    { text: directory, rank: 4 },
    { text: branch === undefined ? "" : oneLine(branch, 40), rank: 0 },
    { text: sessionName ? `· ${oneLine(sessionName, 40)}` : "", rank: 1 },
    { text: `· ${access}`, rank: 9 },
    ...warnings.map((text) => ({ text: theme.fg("warning", text), rank: 9 })),
  ];
  const name = model ? `${model.provider}/${model.id}` : "no model";
  const thinker = [
    { text: name, rank: 9 },
    { text: thinkingLevel && thinkingLevel !== "off" ? `· ${thinkingLevel}` : "", rank: 5 },
  ];
  const { tokens, cost } = session.getSessionStats();
  const usage = session.getContextUsage();
  const figures = [
    { text: `↑${short(tokens.input)} ↓${short(tokens.output)}`, rank: 2 },
    { text: cost > 0 ? `$${cost.toFixed(3)}` : "", rank: 3 },
    {
      text: usage?.percent == null ? "" : `ctx ${Math.round(usage.percent)}% of ${short(usage.contextWindow)}`,
      rank: 3,
    },
  ];
  const waiting = [{ text: pending > 0 ? theme.fg("accent", `${pending} pending`) : "", rank: 9 }];
  return [...joined(place, thinker, theme, width), ...joined(figures, waiting, theme, width)];
}

/** What is unusual about the session, in the order in which it matters. */
export function sessionWarnings(session: AgentSession): string[] {
  return [
    ...(session.sessionFile === undefined ? ["· no session"] : []),
    ...(session.readOnlyReason === undefined ? [] : ["· read-only file"]),
    ...(session.extensionSummary.hasUntrusted ? ["· untrusted"] : []),
  ];
}

interface Part {
  readonly text: string;
  /** The lowest goes first. */
  readonly rank: number;
}

/** One line; two where what must not go does not fit on one. */
function joined(left: readonly Part[], right: readonly Part[], theme: Theme, width: number): string[] {
  let [here, there] = [left.filter(({ text }) => text !== ""), right.filter(({ text }) => text !== "")];
  const text = (parts: readonly Part[]) =>
    parts
      .map(({ text }) => text)
      .join(" ")
      .replace(/^· /, ""); // what it would set apart is gone
  const size = () => visibleWidth(text(here)) + visibleWidth(text(there)) + 3;
  while (size() > width) {
    const lowest = Math.min(...[...here, ...there].map(({ rank }) => rank));
    if (lowest >= 9) break;
    here = here.filter(({ rank }) => rank !== lowest);
    there = there.filter(({ rank }) => rank !== lowest);
  }
  const muted = (parts: readonly Part[]) => theme.fg("muted", text(parts));
  if (size() > width && here.length > 0 && there.length > 0)
    return [here, there].map((parts) => cutTo(` ${muted(parts)}`, width));
  const gap = Math.max(1, width - visibleWidth(text(here)) - visibleWidth(text(there)) - 2);
  return [cutTo(` ${muted(here)}${" ".repeat(gap)}${muted(there)}`, width)];
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
