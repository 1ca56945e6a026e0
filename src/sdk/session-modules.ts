// Custom tools and extensions in a session: found and loaded once, beside the session's own start; their tools added,
// their hooks asked, their ears told. Where there are none, a session has no such object, and nothing of this costs time.

import { messageOf } from "../base/errors.js";
import type { ToolFailure } from "../extend/custom-tool-failure.js";
import type { ModuleLoadError } from "../extend/load.js";
import type { HostModules } from "../extend/virtual-modules.js";
import type { ToolHooks } from "../loop/run.js";
import type { SlashCommand } from "../protocol/data.js";
import type { AgentSession } from "../session/agent-session.js";
import type { BashRunOutcome } from "../session/bash-execution.js";
import type { ModelSource } from "../session/model-source.js";
import type { PlanHands } from "../session/pending/plan-hands.js";
import type { GuestReport, HeardPrompt, RecordChange, RecordWish, SessionGuests } from "../session/session-guests.js";
import type { Workspace } from "../workspace/workspace.js";
import type { LiveModules } from "./live-modules.js";
import type { LoadModulesParts, ModuleOptions } from "./load-session-modules.js";
import { type ModuleSpot, mayHaveModules, moduleRoots } from "./survey-modules.js";

export interface SessionModulesParts extends Pick<LoadModulesParts, "processes" | "clock" | "log" | keyof ModuleSpot> {
  readonly workspace: Workspace;
  readonly plans: PlanHands;
  readonly models: ModelSource;
  readonly hostModules: HostModules;
  /** `interactive`, `rpc`, `print` or `json`. */
  readonly mode: string;
  /** An extension wants the program to end. */
  shutdown(): void;
}

/** Undefined where there is certainly nothing to load. */
export function findSessionModules(parts: SessionModulesParts, options: ModuleOptions): SessionModules | undefined {
  const { settings } = parts;
  const named = [options.additionalToolPaths, options.additionalExtensionPaths, options.extensions];
  const isNamed = [...named, settings.get("customTools"), settings.get("extensions")].some((list) => list?.length);
  return isNamed || mayHaveModules(parts, moduleRoots(parts)) ? new SessionModules(parts, options) : undefined;
}

type UserCommand = { readonly command: string; readonly excludeFromContext: boolean; readonly cwd: string };

export class SessionModules implements SessionGuests {
  readonly #parts: SessionModulesParts;
  readonly #options: ModuleOptions;
  readonly #listeners = new Set<(report: GuestReport) => void>();
  #session: AgentSession | undefined;
  #reserved: readonly string[] = [];
  #loading: Promise<void> | undefined;
  #live: LiveModules | undefined;

  constructor(parts: SessionModulesParts, options: ModuleOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Names that no custom tool may have. */
  reserve(names: readonly string[]): void {
    this.#reserved = names;
  }

  /** Before anything else is asked of it. */
  attach(session: AgentSession): void {
    this.#session = session;
  }

  ready(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) =>
      this.#parts.log.error("custom tools and extensions could not be loaded", error),
    );
    return this.#loading;
  }

  get hearsPrompts(): boolean {
    const runner = this.#live?.runner;
    if (!runner) return false;
    return runner.hasHandlers("input") || runner.hasHandlers("before_agent_start") || runner.commands().length > 0;
  }

  async hear(
    prompt: HeardPrompt,
    { source, onAccepted }: Parameters<SessionGuests["hear"]>[1],
  ): Promise<HeardPrompt | undefined> {
    const runner = this.#live?.runner;
    if (!runner) return prompt;
    if (runner.commandIn(prompt.text) !== undefined) {
      onAccepted();
      await runner.runCommand(prompt.text);
      return undefined;
    }
    const usual = this.#parts.mode === "rpc" ? "rpc" : "interactive";
    const { text, images } = prompt;
    const heard = await runner.emit({ type: "input", text, images, source: source ?? usual });
    if (heard.handled) {
      onAccepted();
      return undefined;
    }
    return { text: heard.text, images: heard.images ?? images };
  }

  async beforeRun({ text: prompt, images, systemPrompt }: HeardPrompt & { readonly systemPrompt: string }) {
    const runner = this.#live?.runner;
    if (!runner?.hasHandlers("before_agent_start")) return { messages: [], systemPrompt };
    return runner.emit({ type: "before_agent_start", prompt, images, systemPrompt });
  }

  async prevents(wish: RecordWish): Promise<boolean> {
    const runner = this.#live?.runner;
    if (!runner) return false;
    const { kind, ...fields } = wish;
    if ("entryId" in fields) return (await runner.emit({ type: "session_before_branch", ...fields })).cancel;
    return (await runner.emit({ type: `session_before_${kind as "switch"}`, ...fields })).cancel;
  }

  async changed(change: RecordChange): Promise<void> {
    if (!this.#live) return;
    const { runner, tellTools } = this.#live;
    if (change.kind === "tree") {
      const { newLeafId, oldLeafId } = change;
      await runner?.emit({ type: "session_tree", newLeafId, oldLeafId });
      return tellTools({ reason: "tree", previousSessionFile: undefined });
    }
    const { kind, previousSessionFile } = change;
    if (kind === "switch") await runner?.emit({ type: "session_switch", reason: change.reason, previousSessionFile });
    else await runner?.emit({ type: "session_branch", previousSessionFile });
    await tellTools({ reason: kind, previousSessionFile });
  }

  commands(): SlashCommand[] {
    return this.#live?.runner?.commands() ?? [];
  }

  onReport(listener: (report: GuestReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The program's own hooks decide first, and see a result last. */
  around(own: ToolHooks): ToolHooks {
    return {
      ...own,
      reviseCall: async (tool, call, args) => {
        const first = await own.reviseCall?.(tool, call, args);
        if (first && "block" in first) return first;
        return (await this.#live?.hooks?.reviseCall(tool, call, first?.args ?? args)) ?? first;
      },
      afterToolCall: async (call, result, ran) => {
        const shown = (await this.#live?.hooks?.afterToolCall(call, result, ran)) ?? result;
        return (await own.afterToolCall?.(call, shown, ran)) ?? shown;
      },
    };
  }

  /** Undefined where no extension ran the command. */
  async runUserBash(request: UserCommand): Promise<BashRunOutcome | undefined> {
    return this.#live?.runUserBash(request);
  }

  /** Never rejects. Everybody is told at once: the time that is left is for all of them. */
  async shutdown(): Promise<void> {
    await this.#loading;
    const live = this.#live;
    if (!live) return;
    await Promise.all([
      live.runner?.emit({ type: "session_shutdown" }),
      live.tellTools({ reason: "shutdown", previousSessionFile: undefined }),
    ]);
    live.runner?.close();
  }

  async #load(): Promise<void> {
    const session = this.#session as AgentSession;
    const [{ loadSessionModules }, { liveModules }, { createModulePending }] = await Promise.all([
      import("./load-session-modules.js"),
      import("./live-modules.js"),
      import("./module-pending.js"),
    ]);
    const { workspace, plans } = this.#parts;
    const push = session.stagePendingAction.bind(session);
    const loaded = await loadSessionModules(
      {
        ...this.#parts,
        builtInToolNames: this.#reserved,
        pending: createModulePending({ workspace, plans, push }),
        onError: (failure) => this.#failed(failure),
        onSendFailure: ({ command, error }) => this.#report({ type: "response", command, success: false, error }),
      },
      this.#options,
    );
    for (const error of loaded.untrusted) this.#parts.log.error(lineOf(error));
    for (const error of loaded.errors) {
      this.#parts.log.error(lineOf(error));
      this.#report(frameOf({ extensionPath: error.path, event: "load", error: error.error }));
    }
    this.#live = liveModules(loaded, {
      ...this.#parts,
      session,
      isProjectTrusted: () => loaded.isProjectTrusted,
      onToolError: (failure) => this.#report(frameOf(failure)),
    });
    session.subscribe((event) => this.#live?.observe(event)?.then(() => {}));
    await this.#live.runner?.emit({ type: "session_start", reason: "startup" });
    await this.#live.tellTools({ reason: "start", previousSessionFile: undefined });
  }

  #failed(failure: ToolFailure): void {
    const { extensionPath, event, error } = failure;
    this.#parts.log.warn(`${extensionPath} ${event}: ${error}`);
    this.#report(frameOf(failure));
  }

  #report(report: GuestReport): void {
    for (const listener of this.#listeners) {
      try {
        listener(report);
      } catch (error) {
        this.#parts.log.error(`a listener failed: ${messageOf(error)}`);
      }
    }
  }
}

/** Without the stack, which is for the log. */
function frameOf({ extensionPath, event, error }: ToolFailure): GuestReport {
  return { type: "extension_error", extensionPath, event, error };
}

function lineOf({ path, error }: ModuleLoadError): string {
  return `${path}: ${error}`;
}
