// `galley sessions`: lists them, and removes what no session needs any more.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { cleanSessions, displayName, listSessions, type SessionInfo } from "../../sdk/manage-sessions.js";
import { exitCodes } from "../exit-codes.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";
import { unknownOption, unknownSubcommand, wrongUse } from "../verb-help.js";

export async function runSessionsCommand(words: readonly string[]): Promise<void> {
  ignoreBrokenPipe();
  const [command, ...flags] = words;
  const at = flags.indexOf("--session-dir");
  const [, sessionDir] = at === -1 ? [] : flags.splice(at, 2);
  if (at !== -1 && sessionDir === undefined) throw wrongUse("sessions", "--session-dir needs a value.");
  const location = { cwd: process.cwd(), agentDir: agentDirectory(process.env), sessionDir };
  const isJson = flags.includes("--json");
  if (command !== "list" && command !== "gc") throw unknownSubcommand("sessions", command);
  const known = command === "list" ? ["--here", "--all", "--json"] : ["--json"];
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw unknownOption("sessions", unknown, known);
  const scopes = flags.filter((flag) => flag !== "--json");
  if (scopes.length > 1) throw wrongUse("sessions", "Use one of --here and --all.");
  if (command === "gc") {
    const report = await cleanSessions(location, Date.now());
    for (const problem of report.problems) process.stderr.write(sanitizeForTerminal(`${problem}\n`));
    if (report.problems.length > 0) process.exitCode = exitCodes.failed;
    const { cleanLeftLayers } = await import("../../sdk/sandbox/left-layers.js");
    const removedLayers = (await cleanLeftLayers({ ...location, env: process.env })).length;
    const { removedBlobs, removedPlans, removedDrafts, freedBytes } = report;
    const layers = removedLayers === 0 ? "" : ` and ${removedLayers} layers of staged commands`;
    const text = `Removed ${removedBlobs} images, ${removedPlans} plans and ${removedDrafts} drafts (${freedBytes} bytes)${layers}.\n`;
    return print(isJson ? `${JSON.stringify({ ...report, removedLayers })}\n` : text);
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
