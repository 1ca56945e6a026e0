// Whether the agent works, and how each prompt ended. It sees every frame in the order of the wire, so that nothing is
// missed; where an agent does not report everything by events, it is asked.

import { isObject, type JsonObject } from "../base/json.js";
import type { TypedObject } from "../base/ndjson.js";
import type { Disposition } from "../protocol/data.js";
import type { PromptResult } from "../protocol/frames.js";
import { failureOf } from "./pending-requests.js";
import type { RpcError } from "./rpc-error.js";

/** How a prompt ended. A failing model is an outcome; a prompt that never ran is an error. */
export interface PromptOutcome {
  status: PromptResult["status"];
  /** False when the prompt was handled without the model. */
  agentInvoked: boolean;
  /** The text of the last reply. */
  text: string;
  /** What the agent said of it when it accepted it; older agents say nothing. */
  disposition?: Disposition | undefined;
  error?: Partial<NonNullable<PromptResult["error"]>> & { message: string };
}

interface Prompt {
  /** `open`: nothing has run for it yet, so the agent counts as busy. */
  state: "sent" | "open" | "taken" | "done";
  /** Accepted while the run before it closed: the end of that run is not its end. */
  isBehind?: boolean;
  isAwaited?: boolean;
  /** Its text, to recognise its message by. */
  message: unknown;
  /** Its message may come before the run has answered another. */
  isSteering: boolean;
  /** Its message has gone to the model; until then the replies are to others. */
  isBegun?: boolean;
  disposition?: Disposition | undefined;
  /** The last reply to it, known when the message of another prompt follows. */
  reply?: Reply;
  outcome: Promise<PromptOutcome>;
  resolve(outcome: PromptOutcome): void;
  reject(error: RpcError): void;
}

export interface ActivityDeps {
  /** Asks the agent for its state; the answer comes by `see` like every frame. */
  askState(): Promise<unknown>;
  /** A late failure that no caller waits for. */
  onLateFailure(error: RpcError): void;
  /** A prompt has ended that may have been a command of an extension: it may have opened another session. */
  onCommandEnd(): void;
}

type Reply = Omit<PromptOutcome, "agentInvoked">;
const noReply: Reply = { status: "completed", text: "" };

/** How often the agent is asked while a caller waits: soon when a run has ended, otherwise now and then. */
const closingProbeMs = 250;
const otherProbeMs = 5000;
const maxRemembered = 256;

export class Activity {
  /** The agent announces the end of each prompt by `prompt_result`. */
  hasResults = false;
  /** Messages of other commands than prompts that have not gone to the model yet. */
  readonly beside = new Set<unknown>();
  readonly #deps: ActivityDeps;
  /** Also those that are done, for a while: their outcome may be requested later. */
  readonly #prompts = new Map<string, Prompt>();
  readonly #live = new Set<Prompt>();
  readonly #idleWaiters = new Set<(error?: RpcError) => void>();
  #phase: "idle" | "running" | "closing" = "idle";
  #reply: Reply = noReply;
  /** The last reply is complete, so that the model would have stopped after it. */
  #isAnswered = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: ActivityDeps) {
    this.#deps = deps;
  }

  /** Before the prompt is written. */
  sent(id: string, { message, streamingBehavior }: JsonObject): void {
    const prompt: Partial<Prompt> = { state: "sent", message, isSteering: streamingBehavior === "steer" };
    prompt.outcome = new Promise((resolve, reject) => Object.assign(prompt, { resolve, reject }));
    prompt.outcome.catch(() => {}); // a caller that waits for it gets the error
    this.#prompts.set(id, prompt as Prompt);
    this.#live.add(prompt as Prompt);
    for (const [old, { state }] of this.#prompts) {
      if (this.#prompts.size <= maxRemembered) break;
      if (state === "done") this.#prompts.delete(old);
    }
  }

  /** Refused, or given up before the acceptance; if it runs all the same, its events show it. */
  forget(id: string): void {
    const prompt = this.#prompts.get(id);
    if (prompt?.state !== "sent") return;
    this.#prompts.delete(id);
    this.#live.delete(prompt);
    this.#wakeIfIdle();
  }

  outcome(id: string): Promise<PromptOutcome> | undefined {
    const prompt = this.#prompts.get(id);
    if (prompt) prompt.isAwaited = true;
    this.#watch();
    return prompt?.outcome;
  }

  get #isIdle(): boolean {
    return this.#phase === "idle" && [...this.#live].every(({ state }) => state === "taken");
  }

  /** Resolves when nothing runs and nothing is about to; asks the agent when it looks idle from here. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle) await this.#deps.askState();
    if (this.#isIdle) return;
    await new Promise<void>((resolve, reject) => {
      this.#idleWaiters.add((error) => (error ? reject(error) : resolve()));
      this.#watch();
    });
  }

  see(frame: TypedObject): void {
    const { type } = frame;
    if (type === "response") this.#seeResponse(frame);
    else if (type === "agent_start") this.#started();
    else if (type === "agent_end") this.#phase = frame.isTerminal === false ? "running" : "closing";
    else if (type === "message_end" && isObject(frame.message)) this.#seeMessage(frame.message);
    else if (type === "agent_settled") this.#agentSettled();
    else if (type === "prompt_result") this.#finish(frame.id, frame as unknown as PromptResult);
    this.#wakeIfIdle();
    this.#watch();
  }

  /** The process is gone: every waiting caller gets the error. */
  fail(error: RpcError): void {
    clearTimeout(this.#timer);
    this.#phase = "idle";
    for (const prompt of this.#live) this.#close(prompt).reject(error);
    this.#wake(error);
  }

  #seeResponse(response: TypedObject): void {
    const { command } = response;
    const { isStreaming, features, disposition, agentInvoked } = (response.data ?? {}) as JsonObject;
    if (command === "get_state") {
      if (isStreaming === false) this.#phase = "idle";
      else if (isStreaming === true && this.#phase === "idle") this.#phase = "running";
    }
    if (command === "negotiate_protocol" && features) this.hasResults = [features].flat().includes("prompt-result");
    const id = response.id ?? response.requestId;
    const prompt = this.#prompts.get(id as string);
    if (!prompt || prompt.state === "done") return;
    if (response.success !== true) {
      const isLate = prompt.state !== "sent";
      const error = failureOf(response, isLate ? "late" : "refused", String(id));
      if (isLate && !prompt.isAwaited) this.#deps.onLateFailure(error);
      return this.#close(prompt).reject(error);
    }
    if (prompt.state !== "sent") return;
    prompt.state = this.#phase === "running" ? "taken" : "open";
    prompt.isBehind = this.#phase === "closing";
    prompt.disposition = disposition as Disposition | undefined;
    if (agentInvoked === false) this.#resolve(prompt, { ...noReply, agentInvoked: false });
  }

  #started(): void {
    this.#phase = "running";
    this.#reply = noReply;
    this.#isAnswered = false;
    for (const prompt of this.#live) {
      if (prompt.state !== "open") continue;
      prompt.state = "taken";
      prompt.isBehind = false;
    }
  }

  #seeMessage({ role, content, stopReason, errorMessage }: JsonObject): void {
    if (!Array.isArray(content)) return;
    const text = content.map((block) => (isObject(block) && block.type === "text" ? block.text : "")).join("");
    if (role === "user") return this.#begin(text);
    if (role !== "assistant") return;
    const status = stopReason === "error" || stopReason === "aborted" ? stopReason : "completed";
    this.#isAnswered = status === "completed" && stopReason !== "toolUse";
    this.#reply = { status, text, ...(status === "error" ? { error: { message: String(errorMessage) } } : {}) };
  }

  /** Which prompt a message of the run is: the one with the same text, or the next, since the agent may expand it. */
  #begin(text: string): void {
    const live = [...this.#live];
    const next = live.filter(({ state, isBegun }) => state === "taken" && !isBegun);
    const isTheirTurn = this.#isAnswered || !live.some(({ isBegun }) => isBegun);
    const begun =
      next.find(({ message }) => message === text) ??
      (!this.beside.delete(text) && next.find(({ isSteering }) => isTheirTurn || isSteering));
    if (!begun) return; // it steers what runs
    if (this.#isAnswered) for (const prompt of this.#live) if (prompt.isBegun) prompt.reply ??= this.#reply;
    begun.isBegun = true;
    this.#isAnswered = false;
  }

  #agentSettled(): void {
    this.#phase = "idle";
    for (const prompt of this.#live)
      if (prompt.isBehind) prompt.isBehind = false;
      else if (prompt.state !== "sent") this.#endOfRun(prompt, "aborted");
  }

  /** With `prompt_result` a prompt that is only queued stays open after the run. `otherwise`: if nothing ran for it. */
  #endOfRun(prompt: Prompt, otherwise: PromptOutcome["status"]): void {
    const agentInvoked = prompt.state === "taken";
    const reply = agentInvoked ? (prompt.reply ?? this.#reply) : { status: otherwise, text: "" };
    if (this.hasResults) prompt.state = "taken";
    else this.#resolve(prompt, { ...reply, agentInvoked });
  }

  #finish(id: unknown, { status, agentInvoked, error }: PromptResult): void {
    const prompt = this.#prompts.get(id as string);
    if (!prompt || prompt.state === "done") return;
    const { text } = agentInvoked ? (prompt.reply ?? this.#reply) : noReply;
    this.#resolve(prompt, { status, agentInvoked, text, ...(error ? { error } : {}) });
  }

  #resolve(prompt: Prompt, outcome: PromptOutcome): void {
    if (!outcome.agentInvoked || /^\//.test(prompt.message as string)) this.#deps.onCommandEnd();
    this.#close(prompt).resolve({ ...outcome, disposition: prompt.disposition });
  }

  #close(prompt: Prompt): Prompt {
    prompt.state = "done";
    prompt.message = undefined; // outcomes are kept, prompts need not be
    this.#live.delete(prompt);
    if (!this.#live.size) this.beside.clear(); // no prompt is left to confuse them with
    return prompt;
  }

  #wakeIfIdle(): void {
    if (this.#idleWaiters.size > 0 && this.#isIdle) this.#wake();
  }

  #wake(error?: RpcError): void {
    for (const wake of this.#idleWaiters) wake(error);
    this.#idleWaiters.clear();
  }

  /** Asks now and then while a caller waits, since an agent may be older than `agent_settled`, or filter its events. */
  #watch(): void {
    clearTimeout(this.#timer);
    const isWaitedFor = this.#idleWaiters.size > 0 || (!this.hasResults && this.#live.size > 0);
    if (!isWaitedFor) return;
    const ms = this.#phase === "closing" ? closingProbeMs : otherProbeMs;
    this.#timer = setTimeout(() => this.#probe(), ms).unref();
  }

  async #probe(): Promise<void> {
    const asked = [...this.#live].filter(({ state }) => state !== "sent");
    try {
      await this.#deps.askState();
      if (this.#phase !== "idle" || this.hasResults) return;
      for (const prompt of asked) if (this.#live.has(prompt)) this.#endOfRun(prompt, "completed");
      this.#wakeIfIdle();
    } catch {
      // The agent refuses or is slow: it is asked again. If it is gone, its end has told every caller.
    } finally {
      this.#watch();
    }
  }
}
