// Custom tools and extensions in a session: found and loaded once, beside the session's own start; their tools added,
// their hooks asked, their ears told. Where there are none, a session has no such object, and nothing of this costs time.

import { atMost } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { ShorteningClock } from "../../base/shortening-clock.js";
import type { ConfigRoot } from "../../config/config-roots.js";
import type { ModuleSpot } from "../../config/survey-modules.js";
import type { ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import type { LiveUI } from "../../extensions/api/custom-tool-ui.js";
import type { HostModules } from "../../extensions/compat/virtual-modules.js";
import type { ExtensionRunner } from "../../extensions/hooks/extension-runner.js";
import type { UserCommand } from "../../extensions/hooks/hooks-session.js";
import type { ModuleLoadError } from "../../extensions/load/load.js";
import type { FoundTool } from "../../extensions/load/load-factory.js";
import type { LoadMemory } from "../../extensions/load/load-memory.js";
import type { Coverage } from "../../extensions/trust/digest-project.js";
import type { Workspace } from "../../files/workspace.js";
import type { ToolHooks } from "../../loop/run.js";
import type { ChangeWriter } from "../../preview/change-writer.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { BashRunOutcome } from "../../session/bash-execution.js";
import type {
  CompactionExtensions,
  TreePreparation,
  TreeVerdict,
} from "../../session/compaction/compaction-extensions.js";
import type { ModelSource } from "../../session/models/model-source.js";
import type {
  ExtensionReport,
  InterceptedPrompt,
  InterceptOptions,
  RecordChange,
  RecordWish,
  SessionExtensions,
} from "../../session/session-extensions.js";
import type { AnyTool } from "../../tools/tool.js";
import type { LiveModules } from "./live-modules.js";
import type { LoadModulesDeps, ModuleOptions, UndecidedProject } from "./load-session-modules.js";

export interface SessionModulesDeps extends Pick<LoadModulesDeps, "processes" | "clock" | "log" | keyof ModuleSpot> {
  readonly workspace: Workspace;
  readonly changes: ChangeWriter;
  readonly models: ModelSource;
  /** The configuration directories. */
  readonly roots: readonly ConfigRoot[];
  readonly hostModules: HostModules;
  readonly givenTools: readonly FoundTool[];
  /** `interactive`, `rpc`, `print` or `json`. */
  readonly mode: string;
  /** An extension wants the program to end. */
  shutdown(): void;
}

/** When the session ends, for modules that are still being loaded. */
const loadPatienceMs = 2000;

export class SessionModules implements SessionExtensions {
  readonly #deps: SessionModulesDeps;
  /** What limits on modules are measured by. */
  readonly #clock: ShorteningClock;
  readonly #options: ModuleOptions;
  readonly #listeners = new Set<(report: ExtensionReport) => void>();
  #session: AgentSession | undefined;
  #reserved: readonly string[] = [];
  #loading: Promise<void> | undefined;
  /** Until those that are loaded have heard of the start. */
  #beginning: Promise<void> | undefined;
  #live: LiveModules | undefined;
  #liveUI: LiveUI | undefined;
  #memory: LoadMemory | undefined;
  #ui: { ui: object | undefined; hasUI: boolean } = { ui: undefined, hasUI: false };
  #undecided: UndecidedProject | undefined;
  #isOver = false;
  /** Nobody is told anything any more. */
  #isGone = false;
  readonly #over = new AbortController();
  #coverage: Coverage | undefined;
  #decide = () => {};
  readonly #decided = new Promise<void>((resolve) => {
    this.#decide = resolve;
  });
  #onRenewed: () => Promise<void> = async () => {};

  constructor(deps: SessionModulesDeps, options: ModuleOptions) {
    this.#deps = deps;
    this.#clock = new ShorteningClock(deps.clock);
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

  loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => this.#broken(error));
    return this.#loading;
  }

  async ready(): Promise<void> {
    await this.loaded();
    await this.#beginning;
  }

  beginShutdown(mostMs: number): void {
    this.#clock.shorten(mostMs);
  }

  /** What the project is trusted with, for its texts; waits for the decision, not for what modules do next. */
  async projectCoverage(): Promise<Coverage | undefined> {
    void this.loaded();
    await this.#decided;
    return this.#coverage;
  }

  /** Told when they were loaded anew, and perhaps something else is trusted. Must not reject. */
  onRenewed(listener: () => Promise<void>): void {
    this.#onRenewed = listener;
  }

  get mayStage(): boolean {
    return this.#live?.mayStage ?? false;
  }

  get interceptsPrompts(): boolean {
    if (!this.#live) return false;
    if (this.#beginning) return true; // what they hear of the start may make them listen
    const { runner, customCommands } = this.#live;
    if (customCommands.list().length > 0) return true;
    if (!runner) return false;
    return runner.hasHandlers("input") || runner.hasHandlers("before_agent_start") || runner.commands().length > 0;
  }

  async intercept(
    prompt: InterceptedPrompt,
    { source, signal, onAccepted }: InterceptOptions,
  ): Promise<InterceptedPrompt | undefined> {
    await this.#beginning;
    if (signal?.aborted) return undefined; // whoever asked was told so
    if (!this.#live) return prompt;
    const { runner, customCommands } = this.#live;
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
    const usual = this.#deps.mode === "rpc" ? "rpc" : "interactive";
    const heard = await runner.emit({ type: "input", text, images, source: source ?? usual }, signal);
    if (heard.handled) return undefined;
    return { text: heard.text, images: heard.images ?? images };
  }

  async beforeRun(
    { text: prompt, images, systemPrompt }: InterceptedPrompt & { readonly systemPrompt: string },
    signal: AbortSignal,
  ) {
    const runner = this.#live?.runner;
    if (!runner?.hasHandlers("before_agent_start")) return { messages: [], systemPrompt };
    return runner.emit({ type: "before_agent_start", prompt, images, systemPrompt }, signal);
  }

  get revisesContext(): boolean {
    return this.#live?.runner?.hasHandlers("context") ?? false;
  }

  async reviseContext(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const runner = this.#live?.runner;
    return runner ? (await runner.emit({ type: "context", messages: [...messages] })).messages : messages;
  }

  get compaction(): CompactionExtensions | undefined {
    return this.#live?.compaction();
  }

  async beforeTree(preparation: TreePreparation, signal: AbortSignal): Promise<TreeVerdict> {
    const runner = this.#live?.runner;
    return runner ? runner.emit({ type: "session_before_tree", preparation, signal }) : { cancel: false };
  }

  async prevents(wish: RecordWish, signal: AbortSignal): Promise<boolean> {
    const runner = this.#live?.runner;
    if (!runner) return false;
    const { kind, ...fields } = wish;
    if ("entryId" in fields) return (await runner.emit({ type: "session_before_branch", ...fields }, signal)).cancel;
    return (await runner.emit({ type: `session_before_${kind as "switch"}`, ...fields }, signal)).cancel;
  }

  async changed(change: RecordChange): Promise<void> {
    if (!this.#live) return;
    const { runner, tellTools } = this.#live;
    if (change.kind === "tree") {
      const { kind: _kind, ...fields } = change;
      await runner?.emit({ type: "session_tree", ...fields });
      return tellTools({ reason: "tree", previousSessionFile: undefined });
    }
    const { kind, previousSessionFile } = change;
    if (kind === "switch") await runner?.emit({ type: "session_switch", reason: change.reason, previousSessionFile });
    else await runner?.emit({ type: "session_branch", previousSessionFile });
    await tellTools({ reason: kind, previousSessionFile });
  }

  commands(): SlashCommand[] {
    return [...(this.#live?.runner?.commands() ?? []), ...this.customCommands()];
  }

  /** Those of modules that bring nothing else, as far as no extension has one of the same name. */
  customCommands(): SlashCommand[] {
    const taken = new Set(this.#live?.runner?.commands().map(({ name }) => name));
    return (this.#live?.customCommands.list() ?? []).filter(({ name }) => !taken.has(name));
  }

  onReport(listener: (report: ExtensionReport) => void): () => void {
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
  async runUserBash(request: UserCommand, signal: AbortSignal): Promise<BashRunOutcome | undefined> {
    return this.#live?.runUserBash(request, signal);
  }

  blame(error: unknown): string | undefined {
    return this.#live?.blame(error);
  }

  setUIContext(ui: object | undefined, hasUI: boolean): void {
    this.#ui = { ui, hasUI };
    this.#liveUI?.set(ui, hasUI);
  }

  /** Never rejects. One reload after the other, and prompts wait for them. */
  reload(): Promise<void> {
    this.#loading = this.ready().then(() => this.#renew().catch((error: unknown) => this.#broken(error)));
    return this.ready();
  }

  /** Never rejects. With a limit it is over by then, whatever they do. */
  async shutdown(limitMs?: number): Promise<void> {
    this.#isOver = true;
    this.#over.abort();
    this.#clock.shorten(limitMs ?? loadPatienceMs);
    const goodbye = async () => {
      await this.#loading;
      await this.#beginning;
      await this.#live?.shutdown();
    };
    await (limitMs === undefined ? goodbye() : atMost(this.#deps.clock, limitMs, goodbye()));
    this.#isGone = true;
    this.#live?.runner?.close();
  }

  async #load(): Promise<void> {
    this.#options.beforeModules?.();
    const live = await this.#createLive([]);
    if (!live || this.#isGone) return;
    this.#live = live;
    (this.#session as AgentSession).observe((event) => this.#live?.observe(event)?.then(() => {}));
    this.#begin("startup");
    void this.#askForTrust(); // holds nothing up: until there is an answer it is no
  }

  /** Never rejects. What a yes is about is what was shown: if that has changed since, it is asked again. */
  async #askForTrust(): Promise<void> {
    const undecided = this.#undecided;
    if (!undecided || !this.#liveUI?.hasUI || this.#isOver) return;
    const { title, lines } = undecided.question;
    const { signal } = this.#over;
    if (!(await this.#liveUI.ui.confirm(title, lines.join("\n"), { signal })) || this.#isOver) return;
    try {
      await undecided.rememberYes();
    } catch (error) {
      return this.#deps.log.error("the decision about the project could not be kept, so it does not count", error);
    }
    await this.reload();
    await this.#askForTrust();
  }

  /** The old ones go on answering until the new ones are there: a guard must not fall silent in between. */
  async #renew(): Promise<void> {
    const old = this.#live;
    if (this.#isOver || !old) return;
    await old.shutdown();
    const next = await this.#createLive(old.tools());
    if (!next || this.#isOver) return;
    this.#live = next;
    old.runner?.close();
    await this.#onRenewed();
    this.#begin("reload");
  }

  /** Only prompts wait for what comes of it. */
  #begin(reason: "startup" | "reload"): void {
    const begin = async () => {
      await this.#live?.runner?.emit({ type: "session_start", reason });
      await this.#live?.tellTools({ reason: "start", previousSessionFile: undefined });
    };
    const beginning = begin()
      .catch((error: unknown) => this.#broken(error))
      .then(() => {
        if (this.#beginning === beginning) this.#beginning = undefined;
      });
    this.#beginning = beginning;
  }

  /** Undefined where the command line asks for a flag that nobody has. */
  async #createLive(old: readonly AnyTool[]): Promise<LiveModules | undefined> {
    const session = this.#session as AgentSession;
    const [{ loadSessionModules }, { liveModules }, { createModulePending }, { createLiveUI }, { LoadMemory }] =
      await Promise.all([
        import("./load-session-modules.js"),
        import("./live-modules.js"),
        import("./module-pending.js"),
        import("../../extensions/api/custom-tool-ui.js"),
        import("../../extensions/load/load-memory.js"),
      ]);
    const { workspace, changes } = this.#deps;
    const push = session.stagePendingAction.bind(session);
    const nextId = session.nextPendingId.bind(session);
    this.#memory ??= new LoadMemory();
    this.#liveUI ??= createLiveUI(this.#deps);
    this.#liveUI.set(this.#ui.ui, this.#ui.hasUI);
    const loaded = await loadSessionModules(
      {
        ...this.#deps,
        clock: this.#clock,
        live: this.#liveUI,
        memory: this.#memory,
        builtInToolNames: this.#reserved,
        pending: createModulePending({ workspace, changes, push, nextId }),
        onError: (failure) => this.#failed(failure),
        onSendFailure: ({ command, error }) => this.#report({ type: "response", command, success: false, error }),
      },
      this.#options,
    );
    this.#undecided = loaded.undecided;
    this.#coverage = loaded.projectCoverage;
    this.#decide();
    for (const error of loaded.untrusted) this.#deps.log.error(lineOf(error));
    for (const error of loaded.errors) {
      this.#deps.log.error(lineOf(error));
      this.#options.onLoadError?.(error);
      this.#report(frameOf({ extensionPath: error.path, event: "load", error: error.error }));
    }
    if (!this.#setFlags(loaded.extensions?.runner)) return undefined;
    const deps = {
      ...this.#deps,
      clock: this.#clock,
      session,
      isProjectTrusted: () => loaded.isProjectTrusted,
      reload: () => this.reload(),
      namedTools: this.#options.namedTools ?? [],
      builtInToolNames: this.#reserved,
      onToolError: (failure: ToolFailure) => this.#report(frameOf(failure)),
      onCommandError: (failure: ToolFailure) => this.#failed(failure),
    };
    return liveModules(loaded, deps, old);
  }

  #setFlags(runner: ExtensionRunner | undefined): boolean {
    const { resolveFlags } = this.#options;
    if (!resolveFlags) return true;
    const values = resolveFlags(runner?.flags() ?? new Map());
    for (const [name, value] of values ?? []) runner?.flagValues.set(name, value);
    return values !== undefined;
  }

  #broken(error: unknown): void {
    this.#decide();
    this.#deps.log.error("custom tools and extensions could not be loaded", error);
  }

  #failed(failure: ToolFailure): void {
    const { extensionPath, event, error } = failure;
    this.#deps.log.warn(`${extensionPath} ${event}: ${error}`);
    this.#report(frameOf(failure));
  }

  #report(report: ExtensionReport): void {
    for (const listener of this.#listeners) {
      try {
        listener(report);
      } catch (error) {
        this.#deps.log.error(`a listener failed: ${messageOf(error)}`);
      }
    }
  }
}

/** Without the stack, which is for the log. */
function frameOf({ extensionPath, event, error }: ToolFailure): ExtensionReport {
  return { type: "extension_error", extensionPath, event, error };
}

function lineOf({ path, error }: ModuleLoadError): string {
  return `${path}: ${error}`;
}
