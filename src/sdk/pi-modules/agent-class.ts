// `Agent` of pi-agent-core: a model, tools and a list of messages, without a session. It tells of turns, replies and calls as pi
// does, and asks through the session's own way to models unless it is given another.

import { isObject, type JsonObject } from "../../base/json.js";
import { validateArguments } from "../../loop/validate-arguments.js";
import type { ImageContent, ToolCall } from "../../protocol/content.js";
import type { ProviderModel } from "../../provider/provider.js";
import type { AgentSession } from "../../session/agent-session.js";
import { type ModelFunctions, type ModelFunctionsDeps, modelFunctions } from "./model-functions.js";

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly stopReason?: string;
  readonly errorMessage?: string;
}

interface AgentTool {
  readonly name: string;
  readonly parameters?: JsonObject;
  prepareArguments?(args: unknown): unknown;
  execute(id: string, args: unknown, signal: AbortSignal, onUpdate: (partial: unknown) => void): Promise<ToolOutcome>;
}

interface ToolOutcome {
  readonly content: unknown;
  readonly details?: unknown;
  readonly terminate?: boolean;
}

interface ReplyStream extends AsyncIterable<{ readonly type: string; readonly partial?: Message }> {
  result(): Promise<unknown>;
}

type StreamFn = (model: ProviderModel, context: object, options: object) => ReplyStream | Promise<ReplyStream>;
type Listener = (event: { readonly type: string }, signal: AbortSignal) => unknown;
type CallHook = (context: object, signal: AbortSignal) => Promise<JsonObject | undefined>;

interface AgentOptions {
  initialState?: Partial<AgentState>;
  streamFn?: StreamFn;
  getApiKey?(provider: string): Promise<string | undefined> | string | undefined;
  convertToLlm?(messages: Message[]): Message[] | Promise<Message[]>;
  transformContext?(messages: Message[], signal: AbortSignal): Promise<Message[]>;
  beforeToolCall?: CallHook;
  afterToolCall?: CallHook;
  sessionId?: string;
  thinkingBudgets?: object;
}

interface AgentState {
  systemPrompt: string;
  model: ProviderModel;
  thinkingLevel: string;
  tools: AgentTool[];
  messages: Message[];
  isStreaming: boolean;
  streamingMessage?: Message | undefined;
  pendingToolCalls: ReadonlySet<string>;
  errorMessage?: string | undefined;
}

const modelRoles = new Set(["user", "assistant", "toolResult"]);

/** What the module has of it. */
export function agentExports(deps: ModelFunctionsDeps & { session(): Pick<AgentSession, "model"> }): object {
  const functions = modelFunctions(deps);
  const streamSimple: StreamFn = (...args) =>
    functions.streamSimple(...(args as unknown as Parameters<ModelFunctions["stream"]>));
  return { Agent: agentClass({ streamSimple, model: () => deps.session().model }), uuidv7: functions.uuidv7 };
}

function agentClass(usual: { readonly streamSimple: StreamFn; model(): ProviderModel | undefined }) {
  return class Agent {
    readonly state: AgentState;
    readonly #options: AgentOptions;
    readonly #listeners = new Set<Listener>();
    #steering: Message[] = [];
    #followUps: Message[] = [];
    #running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;

    constructor(options: AgentOptions = {}) {
      const { systemPrompt = "", thinkingLevel = "off", tools = [], messages = [] } = options.initialState ?? {};
      const model = options.initialState?.model ?? usual.model();
      this.#options = options;
      this.state = {
        ...{ systemPrompt, thinkingLevel, model: model as ProviderModel },
        ...{ tools: [...tools], messages: [...messages], isStreaming: false, pendingToolCalls: new Set() },
      };
    }

    get signal(): AbortSignal | undefined {
      return this.#running?.abort.signal;
    }

    subscribe(listener: Listener): () => void {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    }

    steer(message: Message): void {
      this.#steering.push(message);
    }

    followUp(message: Message): void {
      this.#followUps.push(message);
    }

    clearAllQueues(): void {
      this.#steering = [];
      this.#followUps = [];
    }

    hasQueuedMessages(): boolean {
      return this.#steering.length + this.#followUps.length > 0;
    }

    abort(): void {
      this.#running?.abort.abort();
    }

    async waitForIdle(): Promise<void> {
      await this.#running?.done;
    }

    reset(): void {
      this.clearAllQueues();
      this.state.messages = [];
      this.state.errorMessage = undefined;
    }

    prompt(input: string | Message | readonly Message[], images: readonly ImageContent[] = []): Promise<void> {
      if (typeof input !== "string") return this.#run([input].flat() as Message[]);
      const content = [{ type: "text", text: input }, ...images];
      return this.#run([{ role: "user", content, timestamp: Date.now() } as Message]);
    }

    continue(): Promise<void> {
      const last = this.state.messages.at(-1);
      if (!last || last.role === "assistant") throw new Error("Cannot continue from message role: assistant");
      return this.#run([]);
    }

    setSystemPrompt(systemPrompt: string): void {
      this.state.systemPrompt = systemPrompt;
    }

    setModel(model: ProviderModel): void {
      this.state.model = model;
    }

    setThinkingLevel(level: string): void {
      this.state.thinkingLevel = level;
    }

    setTools(tools: readonly AgentTool[]): void {
      this.state.tools = [...tools];
    }

    replaceMessages(messages: readonly Message[]): void {
      this.state.messages = [...messages];
    }

    appendMessage(message: Message): void {
      this.state.messages = [...this.state.messages, message];
    }

    #run(messages: readonly Message[]): Promise<void> {
      if (this.#running) throw new Error("Agent is already processing. Use steer() or followUp(), or wait for it.");
      const abort = new AbortController();
      const done = this.#turns(messages, abort.signal).finally(() => {
        this.#running = undefined;
        this.state.isStreaming = false;
      });
      this.#running = { abort, done: done.catch(() => {}) }; // the caller of `prompt` gets the error
      return done;
    }

    async #turns(given: readonly Message[], signal: AbortSignal): Promise<void> {
      const added: Message[] = [];
      const say = async (message: Message) => {
        await this.#emit({ type: "message_start", message }, signal);
        this.appendMessage(message);
        added.push(message);
        await this.#emit({ type: "message_end", message }, signal);
      };
      this.state.isStreaming = true;
      this.state.errorMessage = undefined;
      await this.#emit({ type: "agent_start" }, signal);
      let next = [...given];
      for (let goesOn = true; goesOn; ) {
        await this.#emit({ type: "turn_start" }, signal);
        for (const message of next) await say(message);
        const reply = await this.#reply(signal);
        this.appendMessage(reply);
        added.push(reply);
        await this.#emit({ type: "message_end", message: reply }, signal);
        const isOver = reply.stopReason === "error" || reply.stopReason === "aborted";
        const { results, ends } = isOver ? { results: [], ends: true } : await this.#call(reply, signal);
        for (const result of results) await say(result);
        await this.#emit({ type: "turn_end", message: reply, toolResults: results }, signal);
        if (isOver) this.state.errorMessage = reply.errorMessage;
        if (isOver || ends) break;
        next = this.#steering.splice(0);
        if (next.length === 0 && results.length === 0) next = this.#followUps.splice(0);
        goesOn = next.length > 0 || results.length > 0; // the model is shown the results
      }
      await this.#emit({ type: "agent_end", messages: added }, signal);
    }

    async #reply(signal: AbortSignal): Promise<Message> {
      const { convertToLlm, transformContext, streamFn = usual.streamSimple, getApiKey } = this.#options;
      const { model, systemPrompt, tools, thinkingLevel } = this.state;
      const shown = (await transformContext?.([...this.state.messages], signal)) ?? [...this.state.messages];
      const messages = (await convertToLlm?.(shown)) ?? shown.filter(({ role }) => modelRoles.has(role));
      const { sessionId, thinkingBudgets } = this.#options;
      const apiKey = await getApiKey?.(model.provider);
      const reasoning = thinkingLevel === "off" ? undefined : thinkingLevel;
      const stream = await streamFn(
        model,
        { systemPrompt, messages, tools },
        { signal, apiKey, reasoning, sessionId, thinkingBudgets },
      );
      let isTold = false;
      for await (const event of stream) {
        if (!event.partial) continue;
        this.state.streamingMessage = event.partial;
        const type = isTold ? "message_update" : "message_start";
        await this.#emit({ type, message: event.partial, assistantMessageEvent: event }, signal);
        isTold = true;
      }
      this.state.streamingMessage = undefined;
      const message = (await stream.result()) as Message;
      if (!isTold) await this.#emit({ type: "message_start", message }, signal);
      return message;
    }

    async #call(reply: Message, signal: AbortSignal): Promise<{ results: Message[]; ends: boolean }> {
      const blocks = Array.isArray(reply.content) ? reply.content : [];
      const calls = blocks.filter((block): block is ToolCall => isObject(block) && block.type === "toolCall");
      const results: Message[] = [];
      let ending = 0;
      for (const call of calls) {
        const { result, terminate } = await this.#callOne(call, reply, signal);
        results.push(result);
        ending += terminate ? 1 : 0;
      }
      return { results, ends: calls.length > 0 && ending === calls.length };
    }

    async #callOne(call: ToolCall, assistantMessage: Message, signal: AbortSignal) {
      const { id: toolCallId, name: toolName } = call;
      const pending = new Set(this.state.pendingToolCalls).add(toolCallId);
      this.state.pendingToolCalls = pending;
      const told = { toolCallId, toolName, args: call.arguments };
      await this.#emit({ type: "tool_execution_start", ...told }, signal);
      const onUpdate = (partialResult: unknown) =>
        void this.#emit({ type: "tool_execution_update", ...told, partialResult }, signal);
      const { outcome, isError } = await this.#outcome(call, { assistantMessage, signal, onUpdate });
      await this.#emit({ type: "tool_execution_end", toolCallId, toolName, result: outcome, isError }, signal);
      this.state.pendingToolCalls = new Set([...pending].filter((id) => id !== toolCallId));
      const { content, details } = outcome;
      const message = { role: "toolResult", toolCallId, toolName, content, details, isError, timestamp: Date.now() };
      return { result: message as Message, terminate: outcome.terminate === true };
    }

    async #outcome(
      toolCall: ToolCall,
      {
        assistantMessage,
        signal,
        onUpdate,
      }: { assistantMessage: Message; signal: AbortSignal; onUpdate(p: unknown): void },
    ): Promise<{ outcome: ToolOutcome; isError: boolean }> {
      const failed = (text: string) => ({ outcome: { content: [{ type: "text", text }], details: {} }, isError: true });
      const { beforeToolCall, afterToolCall } = this.#options;
      const tool = this.state.tools.find(({ name }) => name === toolCall.name);
      if (!tool) return failed(`Tool ${toolCall.name} not found`);
      if (signal.aborted) return failed("Operation aborted");
      const given = tool.prepareArguments?.(toolCall.arguments) ?? toolCall.arguments;
      const checked = validateArguments(tool.name, tool.parameters ?? {}, given);
      if (!checked.ok) return failed(checked.text);
      const context = { assistantMessage, toolCall, args: checked.args, context: this.state };
      try {
        const verdict = await beforeToolCall?.(context, signal);
        if (verdict?.block) return failed(String(verdict.reason ?? "Tool execution was blocked"));
        const outcome = await tool.execute(toolCall.id, checked.args, signal, onUpdate);
        const revised = await afterToolCall?.({ ...context, result: outcome, isError: false }, signal);
        return { outcome: { ...outcome, ...revised }, isError: revised?.isError === true };
      } catch (error) {
        return failed(error instanceof Error ? error.message : String(error));
      }
    }

    async #emit(event: { readonly type: string } & JsonObject, signal: AbortSignal): Promise<void> {
      for (const listener of [...this.#listeners]) await listener(event, signal);
    }
  };
}
