// Hooks in the form in which the session's own parts ask: a user's command that an extension ran, and what custom tools
// are told about a session's events.

import { AbortRace } from "../../base/abort.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { BashRunOutcome } from "../../session/bash/bash-execution.js";
import type { CustomToolSessionEvent } from "../api/custom-tool.js";
import type { ExtensionRunner } from "./extension-runner.js";
import type { UserBashOperations, UserBashResult } from "./hooks.js";

export interface UserCommand {
  readonly command: string;
  readonly excludeFromContext: boolean;
  readonly cwd: string;
}

/** Its outcome, or how an extension wants it to be run. */
export type TakenCommand = BashRunOutcome | { readonly operations: UserBashOperations } | undefined;

/** Undefined where no extension took it: then galley runs it. After the signal the extensions are not waited for. */
export async function runUserBash(
  runner: Pick<ExtensionRunner, "emit">,
  request: UserCommand,
  signal: AbortSignal,
): Promise<TakenCommand> {
  if (signal.aborted) return asRunOutcome({ output: "", cancelled: true }); // while it waited for its turn
  const race = new AbortRace(signal);
  const outcome = await race.next(runner.emit({ type: "user_bash", ...request }, signal)).finally(() => race.release());
  if (outcome === "aborted") return asRunOutcome({ output: "", cancelled: true });
  const { result, operations } = outcome;
  return operations ? { operations } : result && asRunOutcome(result);
}

function asRunOutcome({ output: text, exitCode = 0, cancelled, truncated }: UserBashResult): BashRunOutcome {
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  const bytes = Buffer.byteLength(text);
  return {
    exitCode,
    ...(cancelled ? { stopped: { by: "abort", sentence: "Command cancelled" } } : {}),
    output: {
      text,
      totalLines: lines,
      totalBytes: bytes,
      outputLines: lines,
      outputBytes: bytes,
      ...(truncated ? { truncation: {} } : {}),
    },
  };
}

/** Undefined for events that custom tools are not told. */
export function toolSessionEvent(event: AgentSessionEvent): CustomToolSessionEvent | undefined {
  switch (event.type) {
    case "auto_compaction_start": {
      const { reason: trigger, action } = event;
      return { reason: event.type, trigger, action };
    }
    case "auto_compaction_end": {
      const { type: reason, result, action, aborted, willRetry, errorMessage } = event;
      const problem = errorMessage === undefined ? {} : { errorMessage };
      return { reason, action, result, aborted, willRetry, ...problem };
    }
    case "auto_retry_start":
    case "auto_retry_end":
    case "ttsr_triggered":
    case "todo_reminder": {
      const { type: reason, ...fields } = event;
      // The members are the same on both sides; the compiler cannot follow that they belong together.
      return { reason, ...fields } as CustomToolSessionEvent;
    }
    default:
      return undefined;
  }
}
