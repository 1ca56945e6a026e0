// Calls the extensions: one after the other in their order, each within its limit, and combines the answers by the rule
// of the hook. No failure of an extension reaches the session, except that a call whose guard failed does not run and a
// result whose handler failed is not shown.

import type { Clock } from "../../base/clock.js";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { maskDeep } from "../../base/text-mask.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import { lateError } from "../api/custom-tool-events.js";
import { failureOf, type ToolFailure } from "../api/custom-tool-failure.js";
import type { LiveUI } from "../api/custom-tool-ui.js";
import { EventBus } from "../api/event-bus.js";
import { type ExtensionHost, ExtensionRuntimeNotInitializedError, type FlagDefinition } from "../api/extension.js";
import type { SendFailure } from "../api/extension-api.js";
import { asSlashCommand, findCommand } from "../api/extension-commands.js";
import {
  createCommandContext,
  createExtensionContext,
  type ExtensionCommandContext,
} from "../api/extension-context.js";
import type { ExtensionRegistrations, RegisteredHandler, RegisteredTool } from "../api/extension-registrations.js";
import { ExtensionRegistry, type Owned } from "../api/extension-registry.js";
import { adaptExtensionTool, type ExtensionTool } from "../api/extension-tools.js";
import { type Patience, runAsHost, runGuarded } from "../load/load-guard.js";
import { EventDetails } from "./event-details.js";
import type { ExtensionEvent, HookEvent, OutcomeOf } from "./hooks.js";
import { ruleFor } from "./hooks-rules.js";

export interface RunnerDeps {
  readonly cwd: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly live: LiveUI;
  readonly limits?: Partial<HandlerLimits>;
  /** Called for every failure of an extension. */
  onError(failure: ToolFailure): void;
  onSendFailure?(failure: SendFailure): void;
}

/** Of each handler's own time: while the user is asked, it does not pass. */
export interface HandlerLimits {
  readonly handlerMs: number;
  /** Deciding whether a call may run can take longer. */
  readonly toolCallMs: number;
  readonly shutdownMs: number;
}

const limitNames: Readonly<Record<string, keyof HandlerLimits>> = {
  tool_call: "toolCallMs",
  session_shutdown: "shutdownMs",
};

/** About a call of the run under way, and useless after it. */
const callTypes: ReadonlySet<string> = new Set(["tool_call", "tool_result"]);

const defaultLimits: HandlerLimits = { handlerMs: 30_000, toolCallMs: 300_000, shutdownMs: 2000 };

export class ExtensionRunner {
  readonly registry = new ExtensionRegistry();
  readonly bus = new EventBus();
  /** What the command line said. */
  readonly flagValues = new Map<string, boolean | string>();
  readonly #deps: RunnerDeps;
  readonly #adapted = new WeakMap<object, ExtensionTool>();
  readonly #details: EventDetails;
  #host: ExtensionHost | undefined;
  #told: Promise<void> = Promise.resolve();
  #isShutDown = false;
  #end: "over" | "other_conversation" | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#details = new EventDetails(deps.clock);
  }

  /** From now on extensions can act on the session. */
  initialize(host: ExtensionHost): void {
    this.#host = host;
  }

  /** What was said while they loaded. The user's come first: a project's cannot take their names. */
  registerProviders(): void {
    const { extensions } = this.registry;
    for (const extension of extensions.toSorted((a, b) => Number(a.origin.needsTrust) - Number(b.origin.needsTrust)))
      for (const [name, config] of extension.providers)
        this.guard(extension, "registerProvider", () =>
          runAsHost(() => this.host().registerProvider(extension.origin, name, config)),
        );
  }

  /**
   * Objects that these extensions kept do nothing any more. Their handlers still answer: a guard must not fall silent
   * while a call is under way.
   */
  close(end: "over" | "other_conversation" = "over"): void {
    this.#host = undefined;
    this.#end = end;
    for (const extension of this.registry.extensions) extension.isGone = true;
  }

  hasHandlers(type: string): boolean {
    return this.registry.handlersOf(type).length > 0;
  }

  /** Never rejects because of an extension. After the signal the answer is not waited for. */
  async emit<Event extends ExtensionEvent>(event: Event, waited?: AbortSignal): Promise<OutcomeOf<Event["type"]>> {
    const rule = ruleFor(event.type);
    const handlers = this.registry.handlersOf(event.type);
    if (!rule) {
      await this.#tell(event, handlers);
      return undefined as OutcomeOf<Event["type"]>;
    }
    const hook = event as HookEvent;
    let outcome = rule.start(hook);
    for (const handler of handlers) {
      const shown = shownTo(handler, rule.view?.(hook, outcome) ?? hook);
      try {
        const answer = await this.#call(handler, shown, waited);
        outcome = rule.take(outcome, isObject(answer) ? answer : {}, shown, {
          needsTrust: handler.extension.origin.needsTrust,
          call: (work) => this.#guarded(handler.extension, work),
        });
      } catch (error) {
        this.report(handler.extension, event.type, error);
        const sentence = `Extension ${handler.extension.origin.path} failed: ${failureOf(error).error}`;
        outcome = rule.fail ? rule.fail(outcome, sentence) : outcome;
      }
      if (rule.isDecided?.(outcome)) break;
    }
    return outcome as OutcomeOf<Event["type"]>;
  }

  /** For the stream of a session's events: in their order, and nothing to wait for without a listener. */
  observe(event: AgentSessionEvent): Promise<void> | undefined {
    const told = [this.#details.of(event), this.#details.after(event)].filter((one) => one !== undefined);
    const heard = told.filter(({ type }) => this.hasHandlers(type));
    for (const one of heard) this.#told = this.#told.then(() => this.emit(one));
    return heard.length > 0 ? this.#told : undefined;
  }

  // Commands, flags, shortcuts

  /** As `get_commands` lists them. */
  commands(): SlashCommand[] {
    return [...this.registry.commands().values()].map(asSlashCommand);
  }

  /** The name of the command that a prompt begins with. */
  commandIn(text: string): string | undefined {
    return findCommand(this.registry.commands(), text)?.command.name;
  }

  /** False where the text names no command. Resolves when the command is done; never rejects because of it. */
  async runCommand(text: string): Promise<boolean> {
    const found = findCommand(this.registry.commands(), text);
    if (!found) return false;
    const { command, args } = found;
    try {
      const ctx = this.commandContext();
      await this.#guarded(command.extension, async () => command.definition.handler(args, ctx));
    } catch (error) {
      this.#deps.onError({ extensionPath: `command:${command.name}`, event: "command", ...failureOf(error) });
    }
    return true;
  }

  /** What a command of theirs is given. */
  commandContext(): ExtensionCommandContext {
    return createCommandContext(this.#contextParts());
  }

  flags(): ReadonlyMap<string, Owned<FlagDefinition>> {
    return this.registry.flags();
  }

  /** False where no extension registered the key. */
  runShortcut(key: string): boolean {
    const shortcut = this.registry.shortcuts().get(key.toLowerCase());
    if (!shortcut) return false;
    const ctx = createExtensionContext(this.#contextParts());
    this.guard(shortcut.extension, "shortcut", () => shortcut.definition.handler(ctx));
    return true;
  }

  // Tools

  /** In the order of registration. What was adapted once stays the same object. */
  tools(): ExtensionTool[] {
    const chosen = this.registry.tools((extension, sentence) =>
      this.report(extension, "registerTool", new Error(sentence)),
    );
    return chosen.map((tool) => this.#adaptedTool(tool));
  }

  #adaptedTool(tool: Owned<RegisteredTool>): ExtensionTool {
    const known = this.#adapted.get(tool.schema);
    if (known) return known;
    const made = adaptExtensionTool(tool, { ...this.#contextParts(), log: this.#deps.log });
    this.#adapted.set(tool.schema, made);
    return made;
  }

  // For the code that serves extensions

  host(): ExtensionHost {
    if (!this.#host) throw new ExtensionRuntimeNotInitializedError(this.#end);
    return this.#host;
  }

  boundHost(): ExtensionHost | undefined {
    return this.#host;
  }

  /** Runs a callback of an extension's without waiting for it. Never throws. */
  guard(extension: ExtensionRegistrations, event: string, work: () => unknown): void {
    if (extension.isGone) return;
    this.#guarded(extension, async () => work()).catch((error: unknown) => this.report(extension, event, error));
  }

  report({ origin }: ExtensionRegistrations, event: string, error: unknown): void {
    this.#deps.onError({ extensionPath: origin.path, event, ...failureOf(error) });
  }

  onSendFailure(failure: SendFailure): void {
    this.#deps.onSendFailure?.(failure);
  }

  async #tell(event: ExtensionEvent, handlers: readonly Owned<RegisteredHandler>[]): Promise<void> {
    const tell = async (handler: Owned<RegisteredHandler>) => {
      try {
        const shown = shownTo(handler, event);
        const { secrets } = this.#host ?? {};
        await this.#call(handler, secrets?.isActive ? maskDeep(shown, secrets.mask) : shown);
      } catch (error) {
        this.report(handler.extension, event.type, error);
      }
    };
    if (event.type !== "session_shutdown") for (const handler of handlers) await tell(handler);
    else if (!this.#isShutDown) {
      this.#isShutDown = true;
      // At once: the remaining time is shared by all of them.
      await Promise.all(handlers.map(tell));
    }
  }

  #call(
    { extension, handler }: Owned<RegisteredHandler>,
    event: { readonly type: string },
    waited?: AbortSignal,
  ): Promise<unknown> {
    const limits = { ...defaultLimits, ...this.#deps.limits };
    const limitMs = limits[limitNames[event.type] ?? "handlerMs"];
    const ctx = createExtensionContext(this.#contextParts());
    const signal = waited ?? this.#signalFor(event);
    return withinOwnTime(this.#deps.clock, limitMs, (patience) =>
      runGuarded({ path: extension.origin.realPath, log: this.#deps.log, patience, signal }, async () =>
        handler(event, ctx),
      ),
    );
  }

  /** Fires when the answer is no longer needed. */
  #signalFor(event: { readonly type: string }): AbortSignal | undefined {
    if ("signal" in event && event.signal instanceof AbortSignal) return event.signal;
    return callTypes.has(event.type) ? this.#host?.signal : undefined;
  }

  #guarded<Result>({ origin }: ExtensionRegistrations, work: () => Result): Result {
    return runGuarded({ path: origin.realPath, log: this.#deps.log }, work);
  }

  #contextParts() {
    const { cwd, live } = this.#deps;
    return { cwd, live, host: () => this.host() };
  }
}

/** A copy of its own: what a handler does to it stays with the handler. */
function shownTo<Event extends { readonly type: string }>({ name }: RegisteredHandler, event: Event): Event {
  const members = Object.entries(event).map(([key, value]: [string, unknown]) => [
    key,
    value instanceof AbortSignal ? value : copy(value),
  ]);
  return { ...Object.fromEntries(members), type: name };
}

function copy(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return value; // details that hold functions cannot be copied
  }
}

// A limit on an extension's work that counts only its own time: while the user is being asked, the clock stands still.

/** Rejects when the time is up; what comes later is ignored. */
function withinOwnTime<Result>(
  clock: Clock,
  limitMs: number,
  work: (patience: Patience) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let leftMs = limitMs;
    let since = 0;
    let holds = 0;
    let isOver = false;
    let cancel = () => {};
    const run = () => {
      since = clock.now();
      cancel = clock.after(
        leftMs,
        () => {
          isOver = true;
          reject(lateError(limitMs, limitMs - leftMs + clock.now() - since));
        },
        { isAwaited: true },
      );
    };
    const release = () => {
      if (--holds === 0 && !isOver) run();
    };
    const patience: Patience = {
      hold(until) {
        if (holds++ === 0) {
          cancel();
          leftMs = Math.max(0, leftMs - Math.max(0, clock.now() - since));
        }
        until.then(release, release);
      },
    };
    run();
    const end = () => {
      isOver = true;
      cancel();
    };
    work(patience).then(resolve, reject).finally(end);
  });
}
