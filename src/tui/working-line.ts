// What is going on while a run is under way.

import { truncateToWidth } from "@earendil-works/pi-tui";
import type { AgentSession, Theme } from "../sdk/index.js";

/** `message`: what an extension says instead. */
export function workingLine(session: AgentSession, theme: Theme, width: number, message?: string): string[] {
  if (!session.isStreaming && !session.isCompacting) return [];
  const frames = theme.spinnerFrames;
  const frame = frames[Math.floor(performance.now() / 100) % frames.length] ?? "…";
  const usual = session.isCompacting ? "Summarizing" : session.isRetrying ? "Waiting to try again" : "Working";
  const what = message ?? usual;
  return [truncateToWidth(` ${theme.fg("accent", frame)} ${what}   ${theme.fg("muted", "esc to stop")}`, width), ""];
}
