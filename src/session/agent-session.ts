// One conversation and the agent that leads it. A short class: it owns the state and delegates the behaviour. Safe
// to call at any moment; every prompt ends in `agent_settled`, whatever happened to it.

import { type Clock, sleep } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { abortGraceMs } from "../loop/call-tool.js";
import { EventStream, type Subscriber } from "../loop/event-stream.js";
import { type InterruptMode, MessageQueues, type QueueMode } from "../loop/message-queues.js";
import type { RunEnd, RunParts, ToolHooks } from "../loop/run.js";
import { runPrompt } from "../loop/run-prompt.js";
import { type Invoker, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { ImageContent } from "../protocol/content.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage, UserMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { ModelMessages } from "./model-messages.js";
import type { ModelSource } from "./model-source.js";
import { SessionLog } from "./session-log.js";

export interface AgentSessionParts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly models: ModelSource;
  readonly stream: StreamFunction;
  readonly tools: readonly AnyTool[];
  readonly hooks?: ToolHooks;
  /** Built anew when the active tools change. */
  systemPrompt(tools: readonly AnyTool[]): string;
  readonly model?: ProviderModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** What to do when a run is active; without it such a prompt is refused. */
  streamingBehavior?: "steer" | "followUp";
  /** Called once the prompt is accepted, before the first event it causes. */
  onAccepted?: () => void;
}

/** A prompt under way. `isClosing` once its last `agent_end` was sent: the next prompt may already line up. */
interface Active {
  readonly abort: AbortController;
  readonly settled: Promise<void>;
  isClosing: boolean;
}

export const busyText =
  "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

export class AgentSession {
  readonly toolChoiceQueue = new ToolChoiceQueue();
  readonly #parts: AgentSessionParts;
  readonly #events: EventStream<AgentSessionEvent>;
  readonly #queues: MessageQueues;
  readonly #record = new SessionLog();
  readonly #modelMessages = new ModelMessages();
  #model: ProviderModel | undefined;
  #active: Active | undefined;

  constructor(parts: AgentSessionParts) {
    this.#parts = parts;
    this.#model = parts.model;
    this.#events = new EventStream(parts.log);
    this.#queues = new MessageQueues(() => this.#announceQueues());
  }

  // Prompting

  /** Resolves when the session has settled again, or at once when the message was queued. */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const message = this.#userMessage(text, options.images);
    if (this.#active && !this.#active.isClosing) {
      if (!options.streamingBehavior) throw new GalleyError("busy", busyText);
      options.onAccepted?.();
      if (options.streamingBehavior === "steer") this.#queues.steer(message);
      else this.#queues.queueFollowUp(message);
      return;
    }
    const model = this.#usableModel();
    const previous = this.#active?.settled;
    const active = this.#activate((own) => this.#drive(own, model, message, previous));
    options.onAccepted?.();
    return active.settled;
  }

  steer(text: string, images?: readonly ImageContent[]): void {
    this.#queues.steer(this.#userMessage(text, images));
  }

  followUp(text: string, images?: readonly ImageContent[]): void {
    this.#queues.queueFollowUp(this.#userMessage(text, images));
  }

  /** Stops the run and waits for it. Queued messages stay queued. A success when there is nothing to stop. */
  async abort(): Promise<void> {
    const active = this.#active;
    if (!active) return;
    active.abort.abort();
    // Abortable tools are given up after their grace; only one that must not be cut short can hold the run longer.
    const patience = new AbortController();
    const bound = sleep(this.#parts.clock, abortGraceMs + 250, patience.signal);
    await Promise.race([active.settled, bound]);
    patience.abort();
    await bound.catch(() => {}); // only our own cancelling ends it early
  }

  waitForIdle(): Promise<void> {
    return this.#active?.settled ?? Promise.resolve();
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    const { steering, followUp } = this.#queues.clear();
    return { steering: steering.map(queuedText), followUp: followUp.map(queuedText) };
  }

  // Events

  /** A subscriber that returns a promise holds the stream, and in the end the model, until it resolves. */
  subscribe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    return this.#events.subscribe(subscriber);
  }

  // State

  get sessionId(): string {
    return this.#parts.sessionId;
  }

  get cwd(): string {
    return this.#parts.cwd;
  }

  get messages(): readonly AgentMessage[] {
    return this.#record.messages;
  }

  get model(): ProviderModel | undefined {
    return this.#model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.#parts.thinkingLevel;
  }

  /** From the acceptance of a prompt until `agent_settled`. */
  get isStreaming(): boolean {
    return this.#active !== undefined;
  }

  get queuedMessageCount(): number {
    return this.#queues.count;
  }

  get tools(): readonly AnyTool[] {
    return this.#parts.tools.filter((tool) => !tool.hidden);
  }

  get systemPrompt(): string {
    return this.#parts.systemPrompt(this.tools);
  }

  get steeringMode(): QueueMode {
    return this.#queues.steeringMode;
  }

  set steeringMode(mode: QueueMode) {
    this.#queues.steeringMode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#queues.followUpMode;
  }

  set followUpMode(mode: QueueMode) {
    this.#queues.followUpMode = mode;
  }

  get interruptMode(): InterruptMode {
    return this.#queues.interruptMode;
  }

  set interruptMode(mode: InterruptMode) {
    this.#queues.interruptMode = mode;
  }

  /** The text of the last assistant message that is not an empty aborted one, or null. */
  getLastAssistantText(): string | null {
    const last = this.messages.findLast(
      (message) => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
    );
    if (last?.role !== "assistant") return null;
    const text = last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return text.trim() || null;
  }

  // Model

  getAvailableModels(): readonly ProviderModel[] {
    return this.#parts.models.available();
  }

  /** Counts from the next run on; a run under way keeps its model. */
  setModel(provider: string, modelId: string): ProviderModel {
    const model = this.#parts.models.find(provider, modelId);
    if (!model) throw new GalleyError("model_not_found", `Model not found: ${provider}/${modelId}`);
    if (!this.#parts.models.hasCredential(model))
      throw new GalleyError("no_credential", `No API key for ${provider}/${modelId}`);
    this.#model = model;
    return model;
  }

  // Tools

  peekQueueInvoker(): Invoker | undefined {
    return this.toolChoiceQueue.peekInvoker();
  }

  /** Makes the next model call use this tool, and the one after it none. */
  setForcedToolChoice(name: string): void {
    if (!this.tools.some((tool) => tool.name === name))
      throw new GalleyError("invalid_argument", `Tool "${name}" is not currently active.`);
    if (!this.#model || this.#model.compat?.supportsToolChoice === false)
      throw new GalleyError("unsupported", "Current model does not support forcing a specific tool.");
    this.toolChoiceQueue.pushSequence([{ type: "tool", name }, "none"], {
      label: "user-force",
      onRejected: (reason) => (reason === "aborted" || reason === "error" ? "requeue" : undefined),
    });
  }

  async dispose(): Promise<void> {
    this.toolChoiceQueue.clear();
    await this.abort();
    await this.#events.drained();
  }

  // Inside

  #usableModel(): ProviderModel {
    const model = this.#model;
    if (!model)
      throw new GalleyError(
        "no_model",
        "No model selected. Choose one with set_model or --model, or add a provider to models.yml in the agent directory.",
      );
    if (!this.#parts.models.hasCredential(model))
      throw new GalleyError(
        "no_credential",
        `No API key found for ${model.provider}. Set its environment variable, pass --api-key, or add apiKey to models.yml in the agent directory.`,
      );
    return model;
  }

  #activate(work: (active: Active) => Promise<void>): Active {
    const abort = new AbortController();
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const active: Active = { abort, settled, isClosing: false };
    this.#active = active;
    // The work never rejects by contract; if it does, the session still settles and the log tells.
    void work(active)
      .catch((error: unknown) => this.#parts.log.error("a prompt failed unexpectedly", error))
      .then(() => {
        if (this.#active === active) this.#active = undefined;
        this.#events.emit({ type: "agent_settled" });
        return this.#events.drained();
      })
      .then(settle);
    return active;
  }

  async #drive(active: Active, model: ProviderModel, message: UserMessage, previous?: Promise<void>): Promise<void> {
    // Nothing starts before the caller has heard that the prompt was accepted, nor before the last one has closed.
    await previous;
    if (active.abort.signal.aborted) return;
    let prompts: AgentMessage[] = [message, ...this.#queues.takeNextTurn().map((item) => item.message)];
    while (prompts.length > 0) {
      const parts = this.#runParts(active, model);
      const end = await runPrompt(parts, prompts);
      prompts = endedWell(end) ? this.#leftOver() : [];
      await this.#events.drained();
    }
  }

  /** Queued while the run was ending: it opens another one. */
  #leftOver(): AgentMessage[] {
    const steering = this.#queues.takeSteering();
    return (steering.length > 0 ? steering : this.#queues.takeFollowUps()).map((item) => item.message);
  }

  #runParts(active: Active, model: ProviderModel): RunParts {
    const { clock, log, stream, models, cwd, hooks = {} } = this.#parts;
    const level = this.thinkingLevel;
    const reasoning = model.reasoning && level && level !== "off" ? { reasoning: level } : {};
    return {
      events: this.#events,
      queues: this.#queues,
      toolChoice: this.toolChoiceQueue,
      signal: active.abort.signal,
      clock,
      log,
      model,
      stream,
      hooks,
      toolContext: { cwd },
      streamOptions: async () => {
        const [apiKey, headers] = await Promise.all([models.apiKeyFor(model), models.headersFor(model)]);
        return { ...(apiKey === undefined ? {} : { apiKey }), headers, ...reasoning, sessionId: this.sessionId };
      },
      systemPrompt: () => this.systemPrompt,
      tools: () => this.tools,
      modelMessages: () => this.#modelMessages.of(this.messages),
      append: (message) => this.#record.append(message),
      decideEnd: (end) => {
        const hasMore = endedWell(end) && this.#queues.hasWork;
        if (hasMore) return { isTerminal: false, continueReason: "queued" };
        active.isClosing = true;
        return { isTerminal: true };
      },
    };
  }

  #userMessage(text: string, images: readonly ImageContent[] = []): UserMessage {
    const timestamp = this.#parts.clock.now();
    return { role: "user", content: [{ type: "text", text }, ...images], attribution: "user", timestamp };
  }

  #announceQueues(): void {
    const { steering, followUp } = this.#queues.view();
    const texts = (items: readonly { message: AgentMessage }[]) =>
      items.filter(({ message }) => message.role === "user").map(queuedText);
    this.#events.emit({
      type: "queue_update",
      get steering() {
        return texts(steering());
      },
      get followUp() {
        return texts(followUp());
      },
    });
  }
}

function endedWell({ stopReason }: RunEnd): boolean {
  return stopReason !== "error" && stopReason !== "aborted";
}

function queuedText({ message }: { message: AgentMessage }): string {
  if (!("content" in message)) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
