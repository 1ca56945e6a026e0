// The custom tools and extensions of a session: found and loaded once, beside the session's own start, loaded again on
// request, and shut down with it. Answers what the session asks of them. Where there are none, a session has no such
// object, and it costs no time.

import { atMost } from "../../base/clock.js";
import { ShorteningClock } from "../../base/shortening-clock.js";
import type { ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import type { LiveUI } from "../../extensions/api/custom-tool-ui.js";
import type { DiscoveredResources } from "../../extensions/hooks/hooks.js";
import type { TakenCommand, UserCommand } from "../../extensions/hooks/hooks-session.js";
import { withRequestHooks } from "../../extensions/hooks/provider-requests.js";
import type { LoadMemory } from "../../extensions/load/load-memory.js";
import type { Coverage } from "../../extensions/trust/digest-project.js";
import type { ToolHooks } from "../../loop/run.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { StreamRequest } from "../../provider/provider.js";
import type { ApprovalPolicy } from "../../session/approval.js";
import type {
  CompactionExtensions,
  TreePreparation,
  TreeVerdict,
} from "../../session/compaction/compaction-extensions.js";
import type {
  ExtensionDrawing,
  ExtensionReport,
  ExtensionSummary,
  InterceptedPrompt,
  InterceptOptions,
  ModelSelection,
  RecordChange,
  RequestedChange,
  SessionExtensions,
} from "../../session/session-extensions.js";
import type { AnyTool } from "../../tools/tool.js";
import { shownSelection } from "../pi-modules/pi-model.js";
import type { RegisteredProviders } from "../pi-modules/registered-providers.js";
import {
  addedToRun,
  counted,
  decideTrust,
  hooksAround,
  interceptPrompt,
  interceptsPrompts,
  preventsChange,
  tellChange,
  tellLeaving,
  visibleCustomCommands,
} from "./answer-session.js";
import type { ExtensionManagerDeps } from "./extension-manager-deps.js";
import { ExtensionReports } from "./extension-reports.js";
import { ExtensionResources } from "./extension-resources.js";
import { allFailedText, unlessClosed } from "./failed-guards.js";
import type { LiveExtensions } from "./live-extensions.js";
import type { ExtensionOptions, LoadedSessionExtensions, UndecidedProject } from "./load-session-extensions.js";

/** How long extensions that are still being loaded may take when the session ends. */
const loadPatienceMs = 2000;

export class ExtensionManager implements SessionExtensions {
  readonly #deps: ExtensionManagerDeps;
  /** The clock for the time limits of extensions. */
  readonly #clock: ShorteningClock;
  readonly #options: ExtensionOptions;
  readonly #reports: ExtensionReports;
  #reserved: readonly string[] = [];
  #loading: Promise<void> | undefined;
  /** Until the loaded extensions have been told of the start. */
  #beginning: Promise<void> | undefined;
  #live: LiveExtensions | undefined;
  #loaded: LoadedSessionExtensions | undefined;
  #liveUI: LiveUI | undefined;
  #memory: LoadMemory | undefined;
  #providers: RegisteredProviders | undefined;
  #ui: { ui: object | undefined; hasUI: boolean } = { ui: undefined, hasUI: false };
  #undecided: UndecidedProject | undefined;
  #hasUntrusted = false;
  #isTrustedForThisRun = false;
  #isBroken = false;
  #isOver = false;
  /** The session has ended: no extension is told anything any more. */
  #isGone = false;
  readonly #over = new AbortController();
  #coverage: Coverage | undefined;
  #decide = () => {};
  readonly #decided = new Promise<void>((resolve) => {
    this.#decide = resolve;
  });
  readonly #resources: ExtensionResources;

  constructor(deps: ExtensionManagerDeps, options: ExtensionOptions) {
    this.#deps = deps;
    this.#clock = new ShorteningClock(deps.clock);
    this.#options = options;
    this.#reports = new ExtensionReports(deps.log);
    this.#resources = new ExtensionResources(deps.cwd);
  }

  /** Names that no custom tool may have. */
  reserve(names: readonly string[]): void {
    this.#reserved = names;
  }

  loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => this.#broken(error));
    return this.#loading;
  }

  async ready(): Promise<void> {
    await this.loaded();
    await this.#beginning;
  }

  /** The models of their providers are known, as far as these answer in time. Never rejects. */
  async modelsFound(): Promise<void> {
    await this.#providers?.settled();
  }

  beginShutdown(mostMs: number): void {
    this.#clock.shorten(mostMs);
  }

  /** What the project is trusted with, for its texts; waits for the decision, not for what extensions do next. */
  async projectCoverage(): Promise<Coverage | undefined> {
    void this.loaded();
    await this.#decided;
    return this.#coverage;
  }

  /** Called after a reload, when the trusted files may have changed. Must not reject. */
  onRenewed(listener: () => Promise<void>): void {
    this.#resources.onRenewed = listener;
  }

  /** Called when extensions have named texts of their own. Must not reject. */
  onDiscovered(listener: (found: DiscoveredResources) => Promise<void>): void {
    this.#resources.onFound = listener;
  }

  /** Beside `loaded`: the texts that they name are known. */
  async textsKnown(): Promise<void> {
    await this.loaded();
    if (this.#live?.runner?.hasHandlers("resources_discover")) await this.#beginning;
  }

  get themePaths(): readonly string[] {
    return this.#resources.themePaths;
  }

  summary(): ExtensionSummary {
    return { ...counted(this.#live), hasUntrusted: this.#hasUntrusted };
  }

  get mayStage(): boolean {
    return this.#live?.mayStage ?? false;
  }

  get interceptsPrompts(): boolean {
    // Handlers of the start may register others.
    return this.#live !== undefined && (this.#beginning !== undefined || interceptsPrompts(this.#live));
  }

  async intercept(prompt: InterceptedPrompt, options: InterceptOptions): Promise<InterceptedPrompt | undefined> {
    await this.#beginning;
    if (options.signal?.aborted) return undefined; // the caller was told so
    const usual = this.#deps.mode === "rpc" ? "rpc" : "interactive";
    return this.#live ? interceptPrompt(this.#live, prompt, { ...options, source: options.source ?? usual }) : prompt;
  }

  beforeRun(prompt: InterceptedPrompt & { readonly systemPrompt: string }, signal: AbortSignal) {
    const made = { session: this.#deps.session(), ...this.#deps.promptParts() };
    return addedToRun(this.#live, prompt, { ...made, signal });
  }

  get revisesContext(): boolean {
    return this.#live?.runner?.hasHandlers("context") ?? false;
  }

  async reviseContext(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    return (await this.#live?.runner?.emit({ type: "context", messages: [...messages] }))?.messages ?? messages;
  }

  get compaction(): CompactionExtensions | undefined {
    return this.#live?.compaction();
  }

  async beforeTree(preparation: TreePreparation, signal: AbortSignal): Promise<TreeVerdict> {
    return (await this.#live?.runner?.emit({ type: "session_before_tree", preparation, signal })) ?? { cancel: false };
  }

  async prevents(requested: RequestedChange, signal: AbortSignal): Promise<boolean> {
    return this.#live ? preventsChange(this.#live, requested, signal) : false;
  }

  selected(selected: ModelSelection): void {
    void this.#live?.runner?.emit(shownSelection(selected)); // never rejects
  }

  async leaving(change: RequestedChange): Promise<void> {
    await this.#beginning;
    if (this.#live) await tellLeaving(this.#live, change);
  }

  async changed(change: RecordChange): Promise<void> {
    if (change.kind !== "tree") await this.#makeAnew().catch((error: unknown) => this.#broken(error));
    if (this.#live) await tellChange(this.#live, change);
  }

  commands(): SlashCommand[] {
    return [...(this.#live?.runner?.commands() ?? []), ...this.customCommands()];
  }

  customCommands(): SlashCommand[] {
    return this.#live ? visibleCustomCommands(this.#live) : [];
  }

  get drawing(): ExtensionDrawing | undefined {
    return this.#live?.drawing;
  }

  onReport(listener: (report: ExtensionReport) => void): () => void {
    return this.#reports.listen(listener);
  }

  /** The policy of the session, closed while a guard is missing. */
  closing(policy: ApprovalPolicy | undefined): ApprovalPolicy {
    return unlessClosed(policy, () => (this.#isBroken ? allFailedText : this.#live?.refusal));
  }

  around(own: ToolHooks): ToolHooks {
    return hooksAround(own, () => this.#live);
  }

  /** Undefined where no extension took the command. */
  async runUserBash(request: UserCommand, signal: AbortSignal): Promise<TakenCommand> {
    return this.#live?.runUserBash(request, signal);
  }

  /** As extensions see and change it; the same where none listens. */
  shownRequest(request: StreamRequest): StreamRequest {
    return withRequestHooks(this.#live?.runner, request);
  }

  renamed(name: string | undefined): void {
    void this.#live?.runner?.emit({ type: "session_info_changed", name }); // never rejects
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

  /** Never rejects. With a limit it is over by then, whatever the extensions do. */
  async shutdown(limitMs?: number): Promise<void> {
    this.#isOver = true;
    this.#over.abort();
    this.#clock.shorten(limitMs ?? loadPatienceMs);
    const goodbye = async () => {
      await this.#loading;
      await this.#beginning;
      await this.#live?.shutdown("quit");
    };
    await (limitMs === undefined ? goodbye() : atMost(this.#deps.clock, limitMs, goodbye()));
    this.#isGone = true;
    this.#live?.runner?.close();
    this.#providers?.close();
  }

  async #load(): Promise<void> {
    this.#options.beforeModules?.();
    const live = await this.#createLive([]);
    if (!live || this.#isGone) return;
    this.#live = live;
    this.#deps.session().observe((event) => this.#live?.observe(event)?.then(() => {}));
    this.#begin("startup");
    void this.#askForTrust(); // not awaited: until there is an answer it is no
  }

  /** Never rejects. A yes is about what was shown: if that has changed since, the user is asked again. */
  async #askForTrust(): Promise<void> {
    const undecided = this.#undecided;
    if (!undecided || !this.#liveUI?.hasUI || this.#isOver) return;
    const how = { ui: this.#liveUI.ui, signal: this.#over.signal, log: this.#deps.log };
    const answer = await decideTrust(this.#options, undecided, how);
    if (answer === "no" || this.#isOver) return;
    this.#isTrustedForThisRun ||= answer === "once";
    await this.reload();
    await this.#askForTrust();
  }

  /** The old ones answer until the new ones are loaded: there must be no moment without a guard. */
  async #renew(): Promise<void> {
    const old = this.#live;
    if (this.#isOver || !old) return;
    await old.shutdown("reload");
    const next = await this.#createLive(old.tools());
    if (!next || this.#isOver) return;
    this.#live = next;
    old.runner?.close();
    await this.#resources.onRenewed();
    this.#begin("reload");
  }

  /** As in pi, each conversation has extensions of its own. Custom tools go on: they are told of it. */
  async #makeAnew(): Promise<void> {
    const old = this.#live;
    const again = this.#isOver ? undefined : await this.#loaded?.extensions?.again();
    if (!old || !this.#loaded || !again) return;
    for (const [name, value] of old.runner?.flagValues ?? []) again.runner.flagValues.set(name, value);
    await this.#reports.loaded({ errors: again.errors, untrusted: [] }, this.#options.onLoadError);
    this.#loaded = { ...this.#loaded, extensions: again, errors: [...this.#loaded.errors, ...again.errors] };
    this.#live = await this.#liven(this.#loaded, old.tools());
    old.runner?.close("other_conversation");
  }

  /** Only prompts wait for it. */
  #begin(reason: "startup" | "reload"): void {
    const begin = async () => {
      await this.#live?.runner?.emit({ type: "session_start", reason });
      await this.#resources.discover(this.#live?.runner, reason);
      await this.#live?.tellTools({ reason: "start", previousSessionFile: undefined });
    };
    const beginning = begin()
      .catch((error: unknown) => this.#broken(error))
      .then(() => {
        if (this.#beginning === beginning) this.#beginning = undefined;
      });
    this.#beginning = beginning;
  }

  /** Undefined where the command line has a flag that no extension knows. */
  async #createLive(old: readonly AnyTool[]): Promise<LiveExtensions | undefined> {
    const [{ loadForSession, setFlags }, { createLiveUI }, { LoadMemory }] = await Promise.all([
      import("./load-for-session.js"),
      import("../../extensions/api/custom-tool-ui.js"),
      import("../../extensions/load/load-memory.js"),
    ]);
    this.#memory ??= new LoadMemory();
    this.#liveUI ??= createLiveUI(this.#deps);
    this.#liveUI.set(this.#ui.ui, this.#ui.hasUI);
    const loaded = await loadForSession(
      this.#deps,
      {
        clock: this.#clock,
        live: this.#liveUI,
        memory: this.#memory,
        builtInToolNames: this.#reserved,
        reports: this.#reports,
      },
      this.#isTrustedForThisRun ? { ...this.#options, trustProject: true } : this.#options,
    );
    this.#undecided = loaded.undecided;
    this.#hasUntrusted = loaded.untrusted.length > 0;
    this.#coverage = loaded.projectCoverage;
    this.#decide();
    await this.#reports.loaded(loaded, this.#options.onLoadError);
    if (!setFlags(loaded, this.#options)) return undefined;
    this.#loaded = loaded;
    return this.#liven(loaded, old);
  }

  async #liven(loaded: LoadedSessionExtensions, old: readonly AnyTool[]): Promise<LiveExtensions> {
    const [{ liveExtensions }, { RegisteredProviders }] = await Promise.all([
      import("./live-extensions.js"),
      import("../pi-modules/registered-providers.js"),
    ]);
    const session = this.#deps.session();
    this.#providers ??= new RegisteredProviders(this.#deps);
    const deps = {
      ...this.#deps,
      clock: this.#clock,
      session,
      providers: this.#providers,
      isProjectTrusted: () => loaded.isProjectTrusted,
      commandContext: () => this.#live?.runner?.commandContext(),
      reload: () => this.reload(),
      namedTools: this.#options.namedTools ?? [],
      builtInToolNames: this.#reserved,
      onToolError: (failure: ToolFailure) => this.#reports.tell(failure),
      onCommandError: (failure: ToolFailure) => this.#reports.failed(failure),
    };
    return liveExtensions(loaded, deps, old);
  }

  #broken(error: unknown): void {
    this.#decide();
    this.#isBroken = true;
    this.#deps.log.error("custom tools and extensions could not be loaded", error);
  }
}
