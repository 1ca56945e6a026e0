// Hooks that are programs: the files in `hooks/pre` are asked before a tool call, those in `hooks/post` after it. Each
// is an extension with one handler that starts the program, so that order, limits and the rules for answers are those
// of any extension. A program that fails decides as a handler that fails does: before a call it blocks, after one the
// result is not shown.

import { basename, dirname } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { readModuleFile } from "../../files/module-files.js";
import type { Processes } from "../../processes/processes.js";
import type { ExtensionAPI } from "../api/extension.js";
import { type ExecResult, execProgram } from "../api/tool-api-exec.js";
import type { FoundModule } from "../discover/findings.js";
import type { LoadDeps } from "../load/load.js";
import type { InlineExtension } from "../load/load-extensions.js";
import { runAsHost } from "../load/load-guard.js";

export interface HookProgramDeps {
  readonly cwd: string;
  readonly processes: Processes;
  /** For those of a project: throws for a file that is no longer what was trusted. */
  readonly coverage: LoadDeps["coverage"];
}

const timeoutMs = 30_000;
/** Of each stream. */
const maxOutputBytes = 1024 * 1024;
const maxProgramBytes = 64 * 1024 * 1024;
const maxReasonCharacters = 4000;
/** The exit code that says no. */
const blocks = 2;

export function hookProgram(program: FoundModule, deps: HookProgramDeps): InlineExtension {
  const { path, realPath, source, needsTrust } = program;
  const isBefore = basename(dirname(path)) === "pre";
  const ask = (question: JsonObject, signal: AbortSignal | undefined) =>
    runAsHost(() => askProgram(program, deps, { question, signal }));
  const factory = (pi: ExtensionAPI) => {
    if (isBefore)
      pi.on("tool_call", async ({ toolName, toolCallId, input }, { signal }) => {
        const said = await ask({ event: "tool_call", toolName, toolCallId, input }, signal);
        return "refusal" in said ? { block: true, reason: said.refusal } : said.answer;
      });
    else
      pi.on("tool_result", async ({ toolName, toolCallId, input, content, details, isError }, { signal }) => {
        const result = { content, details, isError };
        const said = await ask({ event: "tool_result", toolName, toolCallId, input, result }, signal);
        if ("answer" in said) return said.answer;
        return { content: [{ type: "text", text: said.refusal || "Blocked by a hook" }], isError: true };
      });
  };
  return { path, factory, origin: { path, realPath, source, needsTrust } };
}

interface Asked {
  readonly question: JsonObject;
  readonly signal: AbortSignal | undefined;
}

async function askProgram(
  { realPath, needsTrust }: FoundModule,
  { cwd, processes, coverage }: HookProgramDeps,
  { question, signal }: Asked,
): Promise<{ answer: JsonObject } | { refusal: string }> {
  // Each time: only what was trusted is started.
  if (needsTrust) admit(realPath, coverage);
  const ended = await execProgram(
    { processes, cwd },
    { command: realPath, args: [] },
    { input: JSON.stringify(question), signal, timeout: timeoutMs, maxBytes: maxOutputBytes },
  );
  if (!ended.killed && ended.code === blocks) return { refusal: reasonOf(ended) };
  const problem = problemOf(ended);
  if (problem !== undefined) throw new GalleyError("unsupported", problem);
  return { answer: answerOf(ended.stdout) };
}

function admit(realPath: string, coverage: LoadDeps["coverage"]): void {
  if (!coverage) throw new GalleyError("file_refused", `${realPath} is not part of what was trusted`);
  coverage.admit(realPath, readModuleFile(realPath, maxProgramBytes).bytes);
}

function problemOf(ended: ExecResult): string | undefined {
  if (ended.killed) return `it did not end within ${timeoutMs / 1000} seconds, or was stopped`;
  if (ended.truncated) return `it printed more than ${maxOutputBytes / 1024 / 1024} MiB`;
  if (ended.code === 0) return undefined;
  const reason = reasonOf(ended);
  return `it ended with code ${ended.code}${reason === "" ? "" : `: ${reason}`}`;
}

function reasonOf({ stderr }: ExecResult): string {
  return stderr.trim().slice(0, maxReasonCharacters);
}

/** No output means no change. */
function answerOf(text: string): JsonObject {
  if (text.trim() === "") return {};
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new GalleyError("invalid_argument", `its output is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(answer)) throw new GalleyError("invalid_argument", "its output is not a JSON object");
  return answer;
}
