// `galley sessions`: lists them, and removes what no session needs any more.

import { GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { cleanSessions, displayName, listSessions, type SessionInfo } from "../../sdk/manage-sessions.js";
import { exitCodes } from "../exit-codes.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";

const usage = `Usage
  galley sessions list [--here|--all] [--json]   those of this project, of this directory alone, or of all
  galley sessions gc [--json]                    remove images and plans that no session names
Each takes --session-dir DIR, for sessions that are stored there.
`;

export async function runSessionsCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const [command, ...flags] = words;
  const at = flags.indexOf("--session-dir");
  const [, sessionDir] = at === -1 ? [] : flags.splice(at, 2);
  if (at !== -1 && sessionDir === undefined) throw new GalleyError("usage", `--session-dir needs a value.\n\n${usage}`);
  const location = { cwd: process.cwd(), agentDir: agentDirectory(process.env), sessionDir };
  const isJson = flags.includes("--json");
  const scopes = command === "list" ? flags.filter((flag) => flag === "--all" || flag === "--here") : [];
  const isKnown =
    scopes.length < 2 && flags.every((flag) => flag === "--json" || scopes.some((scope) => scope === flag));
  if (command === "--help" || command === "-h") return print(usage);
  if (!isKnown || (command !== "list" && command !== "gc")) throw new GalleyError("usage", usage.trimEnd());
  if (command === "gc") {
    const report = await cleanSessions(location, Date.now());
    for (const problem of report.problems) process.stderr.write(sanitizeForTerminal(`${problem}\n`));
    if (report.problems.length > 0) process.exitCode = exitCodes.failed;
    const { removedBlobs, removedPlans, removedDrafts, freedBytes } = report;
    const text = `Removed ${removedBlobs} images, ${removedPlans} plans and ${removedDrafts} drafts (${freedBytes} bytes).\n`;
    return print(isJson ? `${JSON.stringify(report)}\n` : text);
  }
  const scope = scopes[0] === "--all" ? "all" : scopes[0] === "--here" ? "here" : "project";
  const sessions = await listSessions(location, { scope });
  if (isJson) return print(`${JSON.stringify({ sessions })}\n`);
  print(sessions.length === 0 ? "No sessions here.\n" : sessions.map(lineOf).join(""));
}

function lineOf(session: SessionInfo): string {
  const when = new Date(session.modifiedMs).toISOString().slice(0, 16).replace("T", " ");
  const count = `${session.messageCount}${session.isCountExact ? "" : "+"}`;
  return `${session.id}  ${when}  ${count.padStart(5)} messages  ${displayName(session)}\n`;
}

function print(text: string): void {
  process.stdout.write(sanitizeForTerminal(text));
}
