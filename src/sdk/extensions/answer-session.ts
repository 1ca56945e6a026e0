// What the loaded extensions answer when the session asks: before it accepts a prompt or changes its record, and around
// its tool calls. Functions over the extensions that are live at that moment. Nothing here rejects because of an
// extension.

import type { Log } from "../../base/log.js";
import type { ToolUI } from "../../extensions/api/custom-tool-ui.js";
import type { HookOutcomes, SystemPromptOptions } from "../../extensions/hooks/hooks.js";
import type { TrustQuestion } from "../../extensions/trust/trust-question.js";
import type { ToolHooks } from "../../loop/run.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { AgentSession } from "../../session/agent-session.js";
import type {
  InterceptedPrompt,
  InterceptOptions,
  RecordChange,
  RequestedChange,
  SwitchReason,
} from "../../session/session-extensions.js";
import type { LiveExtensions } from "./live-extensions.js";
import type { ExtensionOptions, UndecidedProject } from "./load-session-extensions.js";

export function interceptsPrompts({ runner, customCommands }: LiveExtensions): boolean {
  if (customCommands.list().length > 0) return true;
  if (!runner) return false;
  return runner.hasHandlers("input") || runner.hasHandlers("before_agent_start") || runner.commands().length > 0;
}

/** Undefined where a command or a handler took the prompt. */
export async function interceptPrompt(
  { runner, customCommands }: LiveExtensions,
  prompt: InterceptedPrompt,
  { source, signal, onAccepted }: InterceptOptions & Required<Pick<InterceptOptions, "source">>,
): Promise<InterceptedPrompt | undefined> {
  if (runner?.commandIn(prompt.text) !== undefined) {
    onAccepted();
    await runner.runCommand(prompt.text);
    return undefined;
  }
  const { images } = prompt;
  let text: string | undefined = prompt.text;
  const command = customCommands.workFor(text);
  if (command) {
    onAccepted();
    text = await command();
  }
  if (text === undefined || signal?.aborted) return undefined;
  if (!runner) return { text, images };
  const answer = await runner.emit({ type: "input", text, images, source }, signal);
  if (answer.handled) return undefined;
  return { text: answer.text, images: answer.images ?? images };
}

/** What a run begins with besides its prompt. */
export async function addedToRun(
  live: LiveExtensions | undefined,
  { text: prompt, images, systemPrompt }: InterceptedPrompt & { readonly systemPrompt: string },
  { session, signal, ...parts }: RunParts,
): Promise<HookOutcomes["before_agent_start"]> {
  if (!live?.runner?.hasHandlers("before_agent_start")) return { messages: [], systemPrompt };
  const systemPromptOptions = { cwd: session.cwd, selectedTools: session.getActiveToolNames(), ...parts };
  const event = { type: "before_agent_start", prompt, images, systemPrompt, systemPromptOptions } as const;
  return live.runner.emit(event, signal);
}

interface RunParts extends Pick<SystemPromptOptions, "contextFiles" | "skills"> {
  readonly session: Pick<AgentSession, "cwd" | "getActiveToolNames">;
  readonly signal: AbortSignal;
}

export async function preventsChange(
  { runner }: LiveExtensions,
  requested: RequestedChange,
  signal: AbortSignal,
): Promise<boolean> {
  if (!runner) return false;
  const { kind, ...fields } = requested;
  if ("entryId" in fields) return (await runner.emit({ type: "session_before_branch", ...fields }, signal)).cancel;
  return (await runner.emit({ type: `session_before_${kind as "switch"}`, ...fields }, signal)).cancel;
}

/** The events of pi for a conversation that ends or begins; a branch is one made by `fork`. */
function reasonOf(change: RequestedChange | Exclude<RecordChange, { kind: "tree" }>): SwitchReason {
  return change.kind === "switch" ? change.reason : "fork";
}

export function counted(live: LiveExtensions | undefined): { tools: number; extensions: number } {
  const tools = new Set(live?.tools().map(({ name }) => name)).size;
  return { tools, extensions: live?.runner?.registry.extensions.length ?? 0 };
}

export async function tellLeaving({ runner }: LiveExtensions, change: RequestedChange): Promise<void> {
  const target = "targetSessionFile" in change ? { targetSessionFile: change.targetSessionFile } : {};
  await runner?.emit({ type: "session_shutdown", reason: reasonOf(change), ...target });
}

export async function tellChange({ runner, tellTools }: LiveExtensions, change: RecordChange): Promise<void> {
  if (change.kind === "tree") {
    const { kind: _kind, ...fields } = change;
    await runner?.emit({ type: "session_tree", ...fields });
    return tellTools({ reason: "tree", previousSessionFile: undefined });
  }
  const { kind, previousSessionFile } = change;
  await runner?.emit({ type: "session_start", reason: reasonOf(change), previousSessionFile });
  if (kind === "switch") await runner?.emit({ type: "session_switch", reason: change.reason, previousSessionFile });
  else await runner?.emit({ type: "session_branch", previousSessionFile });
  await tellTools({ reason: kind, previousSessionFile });
}

/** The commands of custom command modules, except where an extension has one of the same name. */
export function visibleCustomCommands({ runner, customCommands }: LiveExtensions): SlashCommand[] {
  const taken = new Set(runner?.commands().map(({ name }) => name));
  return customCommands.list().filter(({ name }) => !taken.has(name));
}

/** The program's own hooks decide first, and see a result last. `live` is asked at every call: a reload replaces it. */
export function hooksAround(own: ToolHooks, live: () => LiveExtensions | undefined): ToolHooks {
  return {
    ...own,
    reviseCall: async (tool, call, args) => {
      const first = await own.reviseCall?.(tool, call, args);
      if (first && "block" in first) return first;
      return (await live()?.hooks?.reviseCall(tool, call, first?.args ?? args)) ?? first;
    },
    afterToolCall: async (call, result, ran) => {
      const shown = (await live()?.hooks?.afterToolCall(call, result, ran)) ?? result;
      return (await own.afterToolCall?.(call, shown, ran)) ?? shown;
    },
  };
}

/** Asks whether the project may run its own code, and keeps a yes. What is not a clear yes is a no. */
export async function decideTrust(
  options: Pick<ExtensionOptions, "askTrust">,
  { question, rememberYes }: UndecidedProject,
  { log, ...how }: { ui: ToolUI; signal: AbortSignal; log: Log },
): Promise<"no" | "trust" | "once"> {
  const answer = await askTrust(options, question, how);
  if (answer !== "trust") return answer;
  try {
    await rememberYes();
    return answer;
  } catch (error) {
    log.error("the decision about the project could not be kept, so it does not count", error);
    return "no";
  }
}

async function askTrust(
  { askTrust: ask }: Pick<ExtensionOptions, "askTrust">,
  question: TrustQuestion,
  { ui, signal }: { ui: ToolUI; signal: AbortSignal },
): Promise<"no" | "trust" | "once"> {
  if (ask) return ask(question, signal).catch(() => "no");
  return (await ui.confirm(question.title, question.lines.join("\n"), { signal })) ? "trust" : "no";
}
