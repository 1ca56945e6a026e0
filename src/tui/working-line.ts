// What is going on while a run is under way.

import { truncateToWidth } from "@earendil-works/pi-tui";
import type { AgentSession, Theme } from "../sdk/index.js";

export function workingLine(session: AgentSession, theme: Theme, width: number): string[] {
  if (!session.isStreaming && !session.isCompacting) return [];
  const frames = theme.spinnerFrames;
  const frame = frames[Math.floor(performance.now() / 100) % frames.length] ?? "…";
  const what = session.isCompacting ? "Summarizing" : session.isRetrying ? "Waiting to try again" : "Working";
  return [truncateToWidth(` ${theme.fg("accent", frame)} ${what}   ${theme.fg("muted", "esc to stop")}`, width), ""];
}
