// A host's end of the protocol: starts the agent, sends commands, listens to events, lends tools, answers dialogs.
// Every call ends: with its answer, with a typed error, or with the end of the process.

import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import type { TypedObject } from "../base/ndjson.js";
import type { RpcCommandType } from "../protocol/commands.js";
import type { RpcData } from "../protocol/data.js";
import type { ReadyFrame } from "../protocol/frames.js";
import { Activity, type PromptOutcome } from "./activity.js";
import { type AgentEvent, isAgentEvent } from "./agent-events.js";
import type { CommandFields, CommandOptions } from "./command-methods.js";
import { type AgentExit, Connection, endingOf } from "./connection.js";
import { bounded, type CallOptions, timerFor } from "./deadline.js";
import { Dialogs, type HeadlessAnswers, headlessHandlers, type UiHandlers } from "./dialogs.js";
import { failureOf, PendingRequests } from "./pending-requests.js";
import type { RpcClientOptions } from "./rpc-client-options.js";
import { RpcError } from "./rpc-error.js";
import { type ClientExit, RpcEvents } from "./rpc-events.js";
import { type HostTool, HostTools } from "./served-tools.js";
import { spawnAgent } from "./spawn.js";

export type { RpcClientOptions };

const usualFeatures = ["prompt-result", "message-ids", "echo-ids", "queue-events"];
const withoutDeadline = /^(bash|compact|export_html)$/;
const promptTypes = /^(abort_and_)?prompt$/;
/** After these the session may have another file. */
const sessionTypes = /^(new_session|switch_session|branch|fork|clone)$/;

export class RpcClient extends RpcEvents {
  readonly #options: RpcClientOptions;
  readonly #pending = new PendingRequests();
  readonly #activity: Activity;
  readonly #hostTools: HostTools;
  readonly #dialogs: Dialogs;
  #connection: Connection | undefined;
  #ready: ReadyFrame | undefined;
  #starting: { resolve(frame: ReadyFrame): void; reject(error: RpcError): void } | undefined;
  #lastExit: ClientExit | undefined;
  #requests = 0;
  #sessionFile: string | undefined;
  #isSessionFileSure = false;
  /** Ends when the agent has told its session file, or does not. */
  #asking: Promise<unknown> | undefined;

  constructor(options: RpcClientOptions = {}) {
    super(options);
    this.#options = options;
    const send = (frame: object) => this.#connection?.send(frame);
    this.#activity = new Activity({
      askState: () => this.getState(),
      onLateFailure: (error) => this.tell(error),
      onCommandEnd: () => this.#askSessionFile(),
    });
    const isClogged = () => this.#connection?.isClogged ?? true;
    this.#hostTools = new HostTools({ send, isClogged }, options.customTools ?? []);
    this.#dialogs = new Dialogs({ send, report: (thrown) => this.tellThrown(thrown) });
  }

  // Life ------------------------------------------------------------------------------------------------------------

  /** Resolves when the agent is ready, features are agreed and tools are registered. Works again after the end. */
  async start(): Promise<ReadyFrame> {
    if (this.#connection) throw new RpcError("start_failed", "The agent is already running", { command: "start" });
    const process = spawnAgent(this.#options); // a bad argument throws before anything is changed
    const ready = new Promise<ReadyFrame>((resolve, reject) => {
      this.#starting = { resolve, reject };
    });
    this.#ready = undefined;
    this.#activity.hasResults = false;
    const connection: Connection = new Connection({
      process,
      maxStderrBytes: this.#options.maxStderrBytes ?? 64 * 1024,
      onFrame: (frame) => this.#receive(frame),
      onProblem: (problem) => this.#receiveProblem(problem),
      onClose: (exit) => this.#ended(exit),
    });
    this.#connection = connection;
    try {
      const timeoutMs = this.#options.startTimeoutMs ?? 30_000;
      this.#ready = await bounded(ready, { timeoutMs, command: "start" });
      await this.#negotiate(this.#ready);
      const tools = this.#hostTools.lists.at(-1);
      if (tools?.length) await this.setHostTools(tools);
    } catch (error) {
      connection.kill();
      const { code } = await connection.closed;
      throw new RpcError("start_failed", messageOf(error), { command: "start", exitCode: code, cause: error });
    }
    this.#askSessionFile();
    return this.#ready;
  }

  /** Closes stdin and waits for the end; after `graceMs` SIGTERM, a second later SIGKILL. Returns the exit code. */
  async stop(graceMs = 6000): Promise<number | null> {
    const connection = this.#connection;
    if (!connection) return this.#lastExit?.code ?? null;
    connection.end();
    const terminate = timerFor(graceMs, () => connection.kill("SIGTERM"));
    const kill = timerFor(graceMs + 1000, () => connection.kill());
    const { code } = await connection.closed;
    clearTimeout(terminate);
    clearTimeout(kill);
    return code;
  }

  /** Ends the agent at once, without an orderly shutdown. */
  kill(): void {
    this.#connection?.kill();
  }

  /**
   * A new process after one that crashed, or is stopped here: the same options, tools, handlers and listeners, and the
   * same session file. False if there is no such file, or an extension prevents opening it.
   */
  async restart(): Promise<boolean> {
    await this.stop();
    const sessionFile = this.#sessionFile;
    try {
      await this.start();
      return sessionFile !== undefined && !(await this.switchSession(sessionFile)).cancelled;
    } catch (error) {
      if (error instanceof RpcError && error.code === "session_missing") return false; // nothing was said in it
      this.#sessionFile = sessionFile; // for the next attempt
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<unknown> {
    return this.stop();
  }

  /** Does not wait for the end. */
  [Symbol.dispose](): void {
    void this.stop();
  }

  get isRunning(): boolean {
    return this.#connection !== undefined;
  }

  /** The agent's first frame: version and features. */
  get ready(): ReadyFrame | undefined {
    return this.#ready;
  }

  /** The file the session is kept in, as far as it is known; `restart` opens it again. */
  get sessionFile(): string | undefined {
    return this.#sessionFile;
  }

  /** The last part of what the agent wrote to stderr. */
  get stderr(): string {
    return this.#connection?.stderr ?? this.#lastExit?.stderr ?? "";
  }

  // Requests --------------------------------------------------------------------------------------------------------

  /** Any command by its name. */
  async request<C extends RpcCommandType>(
    type: C,
    fields: CommandFields<C>,
    options: CallOptions = {},
  ): Promise<RpcData[C]> {
    const since = performance.now();
    const data = await this.#issue(type, fields, options).answer;
    if (sessionTypes.test(type)) {
      this.#askSessionFile();
      await this.#sessionFileKnown(since, options.timeoutMs ?? this.#usualMs, options.signal);
    }
    return data;
  }

  /** A raw frame; resolves when the pipe has taken it. */
  async send(frame: object): Promise<void> {
    await this.#live("send").send(frame);
  }

  // Prompts ---------------------------------------------------------------------------------------------------------

  /** Resolves with the request's id when the prompt is accepted; `waitForPrompt` tells how it ends. */
  async prompt(message: string, options: CommandOptions<"prompt"> = {}): Promise<string> {
    return this.#prompt("prompt", message, options).accepted;
  }

  async abortAndPrompt(message: string, options: CommandOptions<"abort_and_prompt"> = {}): Promise<string> {
    return this.#prompt("abort_and_prompt", message, options).accepted;
  }

  /** Rejects if the prompt fails late or the agent ends. The deadline is for the whole run; there is none by default. */
  async promptAndWait(message: string, options: CommandOptions<"prompt"> = {}): Promise<PromptOutcome> {
    const { id, accepted } = this.#prompt("prompt", message, options);
    const outcome = this.waitForPrompt(id, options);
    await Promise.race([accepted, outcome]); // a refusal, or the deadline if it comes first
    return outcome;
  }

  /** How the prompt with this id ended, now or earlier. */
  async waitForPrompt(id: string, options: CallOptions = {}): Promise<PromptOutcome> {
    const since = performance.now();
    const work = this.#activity.outcome(id);
    const what = { command: "prompt", requestId: id };
    if (!work) throw new RpcError("refused", `No prompt has the id ${id}`, what);
    const outcome = await bounded(work, { ...options, ...what });
    if (!outcome.agentInvoked) await this.#sessionFileKnown(since, options.timeoutMs, options.signal);
    return outcome;
  }

  /** Resolves when nothing runs, at once if nothing does. */
  async waitForIdle(options: CallOptions = {}): Promise<void> {
    this.#live("waitForIdle");
    return bounded(this.#activity.whenIdle(), { ...options, command: "waitForIdle" });
  }

  /** The events of one prompt, from its acceptance to its end. Throws what `promptAndWait` would reject with. */
  async *stream(message: string, options: CommandOptions<"prompt"> = {}): AsyncGenerator<AgentEvent, PromptOutcome> {
    const events = this.events();
    const outcome = this.promptAndWait(message, options);
    outcome.then(
      () => events.end(),
      (error: RpcError) => events.end(error),
    );
    yield* events;
    return outcome;
  }

  // Tools and dialogs -----------------------------------------------------------------------------------------------

  /**
   * Replaces the tools that the host lends to the model; `[]` withdraws them all. If refused, the old ones stay; if
   * given up, both are served, since the agent may still accept the new ones.
   */
  async setHostTools(tools: readonly HostTool[], options?: CallOptions): Promise<RpcData["set_host_tools"]> {
    const { lists } = this.#hostTools;
    const list = [...tools];
    lists.push(list);
    try {
      const definitions = list.map(({ execute: _, ...definition }) => definition);
      const data = await this.request("set_host_tools", { tools: definitions }, options);
      lists.splice(0, lists.indexOf(list)); // none if a newer list was accepted already
      return data;
    } catch (error) {
      const index = lists.indexOf(list);
      if (index >= 0 && !/timeout|aborted/.test((error as RpcError).kind)) lists.splice(index, 1);
      throw error;
    }
  }

  /** The same under the name of the option. */
  setCustomTools(tools: readonly HostTool[], options?: CallOptions): Promise<RpcData["set_host_tools"]> {
    return this.setHostTools(tools, options);
  }

  /** Answers dialogs with these functions from now on. */
  setUiHandlers(handlers: UiHandlers | undefined): void {
    this.#dialogs.handlers = handlers;
  }

  /** For a host without a screen: `confirm` is answered with false and the rest cancelled, unless values are given. */
  installHeadlessUi(answers: HeadlessAnswers = {}): void {
    this.setUiHandlers(headlessHandlers(answers));
  }

  respondValue(id: string, value: string): Promise<void> {
    return this.#respond(id, { value });
  }

  respondConfirm(id: string, confirmed: boolean): Promise<void> {
    return this.#respond(id, { confirmed });
  }

  respondCancel(id: string, { timedOut }: { timedOut?: boolean } = {}): Promise<void> {
    return this.#respond(id, { cancelled: true, timedOut });
  }

  // Inside ----------------------------------------------------------------------------------------------------------

  #respond(id: string, answer: object): Promise<void> {
    return this.send({ type: "extension_ui_response", id, ...answer });
  }

  get #usualMs(): number {
    return this.#options.requestTimeoutMs ?? 30_000;
  }

  #live(command: string): Connection {
    const connection = this.#connection;
    if (connection?.isOpen) return connection;
    throw new RpcError("stopped", "The agent is not running", { command });
  }

  #issue<C extends RpcCommandType>(type: C, fields: CommandFields<C>, options: CallOptions) {
    const connection = this.#live(type);
    if (options.signal?.aborted) throw new RpcError("aborted", `Gave up ${type}`, { command: type });
    const id = `req_${++this.#requests}`;
    const pending = this.#pending.add(id, type) as Promise<RpcData[C]>;
    const { timeoutMs = withoutDeadline.test(type) ? undefined : this.#usualMs, signal } = options;
    const onGiveUp = () => this.#pending.forget(id);
    const answer = bounded(pending, { timeoutMs, signal, command: type, requestId: id, onGiveUp });
    if (promptTypes.test(type)) {
      this.#activity.sent(id, fields);
      answer.catch(() => this.#activity.forget(id));
    } else this.#activity.beside.add((fields as JsonObject).message); // of `steer` and `follow_up`; others have none
    try {
      void connection.send({ ...fields, id, type });
    } catch (error) {
      this.#pending.forget(id, error);
    }
    return { id, answer };
  }

  #prompt(type: "prompt" | "abort_and_prompt", message: string, options: CommandOptions<"prompt">) {
    const { timeoutMs, signal, ...fields } = options;
    const { id, answer } = this.#issue(type, { message, ...fields } as CommandFields<"prompt">, options);
    const accepted = answer.then(() => {
      if (!this.#isSessionFileSure) this.#askSessionFile(true);
      return id;
    });
    return { id, accepted };
  }

  async #negotiate(ready: ReadyFrame): Promise<void> {
    const features = (this.#options.features ?? usualFeatures).filter((name) => has(ready.features, name));
    if (features.length === 0 && !has(ready.supportedProtocolVersions, 2)) return;
    await this.negotiateProtocol(2, { features });
  }

  /**
   * Asks for the session file, since it may be another one. A new session may have none before its first prompt, which
   * makes sure. The answer comes by `#receive`; without one the file known so far stays.
   */
  #askSessionFile(isSure = false): void {
    this.#isSessionFileSure = isSure;
    this.#asking = this.getState().catch(() => {});
  }

  /** Waits for the last answer, within the time of a caller that already has its own. Never rejects. */
  #sessionFileKnown(since: number, timeoutMs = Number.NaN, signal?: AbortSignal): Promise<unknown> {
    const leftMs = since + timeoutMs - performance.now();
    return bounded(Promise.resolve(this.#asking), { timeoutMs: leftMs, signal, command: "" }).catch(() => {});
  }

  #receive(frame: TypedObject): void {
    if (this.#starting) return this.#receiveFirst(frame);
    this.#activity.see(frame);
    if (frame.type === "response") {
      const { command, data } = frame;
      if (command === "get_state" && isObject(data))
        this.#sessionFile = typeof data.sessionFile === "string" ? data.sessionFile : undefined;
      if (this.#pending.answer(frame)) return;
      // A second answer is the late failure of a prompt, which the activity knows; a late success is useless.
      if (frame.success !== true && typeof frame.id !== "string") this.tell(failureOf(frame, "protocol"));
    }
    if (isAgentEvent(frame)) {
      this.#hostTools.see(frame);
      if (frame.type === "session_moved") this.#sessionFile = frame.to;
      if (frame.type === "extension_ui_request") this.#dialogs.see(frame, this.isUiLeftToHost);
    }
    this.deliver(frame);
  }

  #receiveFirst(frame: TypedObject): void {
    const starting = this.#starting;
    this.#starting = undefined;
    if (frame.type === "ready") starting?.resolve(frame as unknown as ReadyFrame);
    else starting?.reject(new RpcError("start_failed", `The agent began with "${frame.type}" instead of "ready"`));
  }

  #receiveProblem(problem: string): void {
    const error = new RpcError("protocol", `The agent wrote a line that is not a frame: ${problem}`);
    if (this.#starting) this.#starting.reject(error);
    else this.tell(error);
  }

  #ended(exit: AgentExit): void {
    const wasStopped = this.#connection?.isStopping ?? false;
    this.#connection = undefined;
    this.#lastExit = { ...exit, isExpected: wasStopped };
    const { code: exitCode } = exit;
    const text = endingOf(exit, wasStopped);
    const errorOf = (command?: string, requestId?: string) =>
      new RpcError(wasStopped ? "stopped" : "exited", text, { command, requestId, exitCode });
    this.#starting?.reject(errorOf("start"));
    this.#starting = undefined;
    this.#pending.rejectAll(errorOf);
    this.#activity.fail(errorOf("prompt"));
    this.#hostTools.cancelAll();
    this.#dialogs.abortAll();
    this.endEvents(this.#lastExit);
  }
}

/** Older agents leave lists out. */
function has(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.includes(value);
}
