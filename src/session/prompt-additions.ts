// What goes with a prompt besides its text: the template that a `/name` stands for, a tool choice for its first model
// call, a plan to begin with, and what extensions add to its run.

import type { AgentMessage } from "../protocol/messages.js";
import type { ProviderModel, ToolChoice } from "../provider/provider.js";
import type { InterceptedPrompt } from "./session-extensions.js";
import type { SessionInternals } from "./session-internals.js";
import { customMessage } from "./session-messages.js";
import { startEagerTodos } from "./todos/eager-todo.js";

/** What a `/name` stands for. Synchronous wherever possible, to keep the order of prompts. */
export function expandTemplate(
  { deps: { library } }: Pick<SessionInternals, "deps">,
  text: string,
): string | Promise<string> {
  if (!library || !text.startsWith("/")) return text;
  const expand = () => library.expand(text) ?? text;
  return library.isReady ? expand() : library.ready().then(expand);
}

/** What extensions add to a prompt goes with it; their system prompt holds until `end`. */
export function askExtensionsBeforeRun(
  { deps, systemPrompt }: Pick<SessionInternals, "deps" | "systemPrompt">,
  prompt: InterceptedPrompt,
): { ask(signal: AbortSignal): Promise<AgentMessage[]>; end(): void } {
  let end = () => {};
  return {
    async ask(signal) {
      const { text } = systemPrompt;
      const said = await deps.extensions?.beforeRun({ ...prompt, systemPrompt: text }, signal);
      if (!said || signal.aborted) return [];
      if (said.systemPrompt !== text) end = systemPrompt.useForRun(said.systemPrompt);
      return said.messages.map((input) => customMessage(input, deps.clock.now()));
    },
    end: () => end(),
  };
}

/** Asks for a plan first, where the settings want one. Returns a function that ends it. */
export function beginEagerTodos(
  session: Pick<SessionInternals, "deps" | "current" | "settings" | "todos" | "tools" | "toolChoice">,
  { text, model, riders }: { text: string; model: ProviderModel; riders: AgentMessage[] },
): (() => void) | undefined {
  const { enabled, eager } = session.settings.todos;
  if (!enabled || eager !== true) return undefined;
  return startEagerTodos(text, {
    messageCount: session.current.record.context.messages.length,
    hasTodos: session.todos.get().length > 0,
    toolNames: session.tools.active.map(({ name }) => name),
    model,
    ride: (message) => void riders.push(message),
    toolChoice: session.toolChoice,
    now: session.deps.clock.now(),
  });
}

/** A choice that the run did not reach must not affect the next one. */
export async function withToolChoice(
  { toolChoice }: Pick<SessionInternals, "toolChoice">,
  choice: ToolChoice | undefined,
  run: () => Promise<void>,
): Promise<void> {
  if (choice === undefined) return run();
  const id = toolChoice.pushOnce(choice, {
    label: "prompt",
    now: true,
    onRejected: (reason) => (reason === "error" ? "requeue" : undefined),
  });
  try {
    await run();
  } finally {
    toolChoice.remove(id); // not by its name: the next prompt may have its own by now
  }
}
