// The bash tool: one command in a shell, its output while it runs and after it. Never waits longer than its timeout and
// never gives more than a model can use.

import type { XStatic } from "typebox/schema";
import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Workspace } from "../files/workspace.js";
import { checkEnvironmentNames } from "../processes/child-environment.js";
import type { Processes } from "../processes/processes.js";
import type { ToolResult } from "../protocol/events.js";
import { type CommandNotes, type Confinement, noConfinement } from "./confinement.js";
import type { CapturedOutput, OutputSettings } from "./output/capture.js";
import { type CommandDeps, type CommandOutcome, runPlaced } from "./output/run-command.js";
import { shownTruncation } from "./output/shown-truncation.js";
import { cutText, notice } from "./output/text.js";
import { type AgentTool, type ArtifactSink, type OnUpdate, textResult, toolFailure } from "./tool.js";

const lineCount = { type: "integer", minimum: 1 } as const;

const parameters = {
  type: "object",
  properties: {
    command: { type: "string", pattern: "\\S", maxLength: 100_000 },
    description: { type: "string" },
    timeout: { type: "number", description: "Seconds (300; 1 to 3600)" },
    cwd: { type: "string" },
    env: { type: "object", additionalProperties: { type: "string" } },
    head: { ...lineCount, description: "First lines only" },
    tail: { ...lineCount, description: "Last lines only" },
    stage: { type: "boolean", description: "Preview its file changes" },
    escalate: { type: "string", maxLength: 2000, description: "Why it must run outside the sandbox; asks the user" },
  },
  required: ["command"],
} as const;

type BashParams = XStatic<typeof parameters>;

export interface BashDeps {
  readonly workspace: Pick<Workspace, "cwd" | "resolve" | "resolveCwd" | "mayWriteBelow">;
  readonly processes: Processes;
  readonly artifacts: ArtifactSink;
  readonly clock: Clock;
  readonly settings?: BashSettings | undefined;
  readonly maskOutput?: CommandDeps["maskOutput"];
  /** Default: commands run with the user's rights. */
  readonly confinement?: Confinement | undefined;
}

export interface BashSettings {
  readonly output?: OutputSettings | undefined;
  /** On top of the tool's own limit; 0 is none. */
  readonly maxTimeoutSeconds?: number | undefined;
}

const description = "Run a shell command. Gives stdout and stderr, the end of a long output.";
const backgroundText = "Background processes end with the command: start a server and use it in one command.";

export function createBash(deps: BashDeps): AgentTool<BashParams> {
  const { processes, artifacts, clock, settings, maskOutput, confinement = noConfinement } = deps;
  return {
    name: "bash",
    label: "Bash",
    get description() {
      return confinement.endsBackground ? `${description} ${backgroundText}` : description;
    },
    parameters,
    // A command may change files: it runs beside other commands, and beside no other call of the same reply.
    concurrency: () => (confinement.isSerial ? "exclusive" : "together"),
    approval: "exec",
    ...(deps.confinement ? { isCommand: true } : {}),
    prepareArguments,
    async execute(toolCallId, params, signal, onUpdate) {
      const { command, env = {}, head, tail, stage } = params;
      checkEnvironmentNames(env);
      if ([command, ...Object.values(env)].some((text) => text.includes("\0")))
        throw toolFailure("The command and its environment must not contain NUL characters.");
      const timeoutSeconds = clampTimeout(params.timeout, settings?.maxTimeoutSeconds);
      const cwd = await workingDirectory(deps, params.cwd);
      const progress = reportProgress(clock, onUpdate);
      const request = { command, cwd, env, timeoutSeconds, signal, head, tail, onOutput: progress.newest };
      try {
        const running = { processes, artifacts, output: settings?.output, maskOutput };
        const wish = { command, sourceToolName: "bash", toolCallId, stage };
        const { end, notes } = await confinement.run(wish, (place) => runPlaced(running, request, place));
        return resultOf(end, notes, timeoutSeconds);
      } finally {
        progress.stop();
      }
    },
  };
}

/** Options of other agents that this version lacks are refused, since the command would not run as asked. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { pty, async: inBackground, ...rest } = args;
  if (isAskedFor(pty)) throw toolFailure("pty is not available in this version: commands run without a terminal.");
  if (isAskedFor(inBackground))
    throw toolFailure("async is not available in this version: run the command without it and wait for its end.");
  return rest;
}

function isAskedFor(flag: unknown): boolean {
  return flag === true || flag === "true";
}

function clampTimeout(asked = 300, maxSeconds = 0): number {
  const highest = maxSeconds > 0 ? Math.min(maxSeconds, 3600) : 3600;
  return Math.min(Math.max(asked, 1), highest);
}

async function workingDirectory({ workspace }: BashDeps, asked: string | undefined): Promise<string> {
  const shown = () => cutText(printable(asked ?? workspace.cwd), 200);
  const looking = asked === undefined ? workspace.resolveCwd() : workspace.resolve(asked, "read");
  const target = await looking.catch((error: unknown) => {
    if (!GalleyError.is(error, "not_found")) throw error;
    throw toolFailure(`Working directory does not exist: ${shown()}`, error);
  });
  if (target.kind !== "directory") throw toolFailure(`Working directory is not a directory: ${shown()}`);
  if (asked !== undefined && !(await workspace.mayWriteBelow(target)))
    throw toolFailure(`Working directory is outside the directories that may be written to: ${shown()}`);
  return target.path;
}

function resultOf(
  { exitCode, stopped, output }: CommandOutcome,
  { lines, staged }: CommandNotes,
  timeoutSeconds: number,
): ToolResult {
  const details = { timeoutSeconds, exitCode, ...metaOf(output), ...staged };
  const failure = stopped?.sentence ?? (exitCode === 0 ? undefined : `Command exited with code ${exitCode}`);
  const parts = [
    bodyOf(output),
    ...(failure === undefined ? [] : [failure]),
    ...(lines.length > 0 ? [lines.join("\n")] : []),
  ];
  const result = textResult(parts.join("\n\n"), details);
  return failure === undefined ? result : { ...result, isError: true };
}

function bodyOf({ text, remarks }: CapturedOutput): string {
  return (text.replace(/\n$/, "") || "(no output)") + notice(remarks);
}

function metaOf(output: CapturedOutput): object {
  const { truncation, fullOutputPath } = output;
  return truncation ? { meta: { truncation }, ...shownTruncation(output), fullOutputPath } : {};
}

const updateIntervalMs = 100;

/** Sends the newest lines, not each chunk: at once after a quiet time, then once per interval. */
function reportProgress(clock: Clock, onUpdate: OnUpdate) {
  let waiting: (() => CapturedOutput) | undefined;
  let cancel: (() => void) | undefined;
  const tell = () => {
    cancel = undefined;
    if (!waiting) return;
    const output = waiting();
    waiting = undefined;
    cancel = clock.after(updateIntervalMs, tell);
    onUpdate(textResult(output.text.replace(/\n$/, ""), metaOf(output)));
  };
  return {
    newest(snapshot: () => CapturedOutput): void {
      waiting = snapshot;
      if (!cancel) tell();
    },
    stop: () => cancel?.(),
  };
}
