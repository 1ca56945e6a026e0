// The bridge from a provider's stream to the session's events: one reply, from the request to `message_end`.
// Promises: the message pair always closes, an abort ends even a stalled stream at once, and the reader of
// the events sets the pace of the reading.

import { AbortRace } from "../base/abort.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { noMask } from "../base/text-mask.js";
import type { AgentEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";
import type { ModelMessage, ProviderModel, StreamEvent, StreamRequest, ToolChoice } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { ReplyMask } from "./mask-reply.js";
import { type FinishedCall, ReplyBuilder, type ReplyEvent } from "./reply-builder.js";
import type { Run, RunContext } from "./run.js";

export interface Reply {
  readonly message: AssistantMessage;
  readonly calls: FinishedCall[];
}

type End = Parameters<ReplyBuilder["finish"]>[0];

const aborted: End = { stopReason: "aborted", errorMessage: "Request was aborted" };

export async function streamReply(run: Run): Promise<Reply> {
  const { model, clock, signal, mask = noMask } = run.context;
  const builder = new ReplyBuilder(model, clock.now(), mask);
  const progress = { isStarted: false };
  let end: End;
  try {
    const refused = signal.aborted ? undefined : run.context.mayAsk?.();
    if (refused) end = failedEnd(run, refused);
    else end = signal.aborted ? aborted : await readStream(run, builder, progress);
  } catch (error) {
    const isKeyless = GalleyError.is(error, "no_credential");
    end = { stopReason: "error", errorMessage: messageOf(error), ...(isKeyless && { error: { kind: "auth" } }) };
  }
  const { errorMessage } = end;
  const { message, calls } = builder.finish(
    errorMessage === undefined ? end : { ...end, errorMessage: mask.excerpt(errorMessage) },
  );
  if (!progress.isStarted) run.emit({ type: "message_start", message });
  run.append(message);
  run.emit({ type: "message_end", message });
  run.context.replied(message);
  return { message, calls };
}

async function readStream(run: Run, builder: ReplyBuilder, progress: { isStarted: boolean }): Promise<End> {
  const { events, signal, stream, watch, mask } = run.context;
  watch?.turnStart();
  const race = new AbortRace(signal);
  let iterator: AsyncIterator<StreamEvent> | undefined;
  try {
    const options = await race.next(run.context.streamOptions());
    if (options === "aborted") return aborted;
    // Now the key of this request is known, too.
    const masking = mask?.isActive ? new ReplyMask(mask) : undefined;
    const revised = run.context.reviseMessages?.();
    const messages = revised && (await race.next(revised));
    if (messages === "aborted") return aborted;
    iterator = stream(buildRequest(run, options, messages))[Symbol.asyncIterator]();
    for (;;) {
      const step = await race.next(iterator.next());
      if (step === "aborted" || signal.aborted) return aborted;
      if (step.done)
        return { stopReason: "error", errorMessage: "The model's stream ended early", error: { kind: "network" } };
      for (const event of masking?.take(step.value) ?? [step.value]) {
        builder.apply(event);
        const end = announce(run, builder, event, progress);
        if (end) return end;
      }
      if (events.isBusy) await race.next(events.drained());
    }
  } finally {
    race.release();
    // Not awaited: a provider that hangs must not hold up the abort that wants to leave it.
    void iterator?.return?.().catch(() => {}); // its failure no longer matters
  }
}

/** Sends what one provider event means; returns how the reply ended if it did. */
function announce(
  run: Run,
  builder: ReplyBuilder,
  event: ReplyEvent,
  progress: { isStarted: boolean },
): End | undefined {
  switch (event.type) {
    case "start":
      if (progress.isStarted) return undefined;
      progress.isStarted = true;
      run.emit({ type: "message_start", message: builder.snapshot()() });
      return undefined;
    case "done":
      return { stopReason: event.reason };
    case "error":
      return failedEnd(run, event);
    case "redacted_thinking":
      return undefined; // a block without events of its own: it shows in the next snapshot
    default:
      if ("delta" in event && event.delta === "" && "raw" in event) return undefined; // all of it is held back
      if (!progress.isStarted) announce(run, builder, { type: "start" }, progress);
      return announceUpdate(run, update(builder, event));
  }
}

function failedEnd(run: Run, event: Extract<StreamEvent, { type: "error" }>): End {
  const { reason, failure } = event;
  return { stopReason: reason, errorMessage: run.context.failureText(event), ...(failure ? { error: failure } : {}) };
}

function announceUpdate(run: Run, event: UpdateEvent): End | undefined {
  run.emit(event);
  const problem = run.context.watch?.update(event.assistantMessageEvent);
  return problem === undefined ? undefined : { stopReason: "aborted", errorMessage: problem };
}

type UpdateEvent = Extract<AgentEvent, { type: "message_update" }>;
type BlockEvent = Exclude<ReplyEvent, { type: "start" | "done" | "error" | "redacted_thinking" }>;

/** The snapshots are getters: a subscriber that only reads the delta does not pay for the whole message. */
function update(builder: ReplyBuilder, event: BlockEvent): UpdateEvent {
  const snapshot = builder.snapshot();
  const own = ownMembers(builder, event);
  return {
    type: "message_update",
    get message() {
      return snapshot();
    },
    assistantMessageEvent: Object.defineProperty(own, "partial", { enumerable: true, get: snapshot }) as typeof own & {
      partial: AssistantMessage;
    },
  };
}

function ownMembers(builder: ReplyBuilder, event: BlockEvent) {
  const { contentIndex } = event;
  switch (event.type) {
    case "text_delta":
    case "thinking_delta":
    case "toolcall_delta":
      return { type: event.type, contentIndex, delta: event.delta };
    case "text_end":
    case "thinking_end":
      return { type: event.type, contentIndex, content: builder.textOf(contentIndex) };
    case "toolcall_end": {
      const { toolCall, isWhole } = builder.callAt(contentIndex);
      return { type: event.type, contentIndex, toolCall, ...(isWhole ? {} : { complete: false as const }) };
    }
    default:
      return { type: event.type, contentIndex };
  }
}

/** Built just before it is sent: a forced choice is used up only by a request that goes out. */
function buildRequest(
  run: Run,
  options: Awaited<ReturnType<RunContext["streamOptions"]>>,
  messages: readonly ModelMessage[] = run.context.modelMessages(),
): StreamRequest {
  const { model, signal, toolChoice } = run.context;
  const tools = run.context.tools();
  run.offeredTools = tools;
  const wanted = model.compat?.supportsToolChoice === false ? undefined : toolChoice.next();
  const isPossible = wanted === undefined || isActive(wanted, tools);
  if (!isPossible) toolChoice.reject("unavailable");
  const { choice, offered } = mapChoice(isPossible ? wanted : undefined, tools, model);
  return {
    model,
    context: {
      systemPrompt: run.context.systemPrompt(),
      messages,
      tools: offered.map(({ name, description, parameters, published = parameters, strict }) => ({
        name,
        description,
        parameters: published,
        ...(strict ? { strict } : {}),
      })),
    },
    options: { ...options, signal, ...(choice === undefined ? {} : { toolChoice: choice }) },
  };
}

/** A service that takes no name can still be made to call a tool: the one it is offered. */
function mapChoice(choice: ToolChoice | undefined, tools: readonly AnyTool[], model: ProviderModel) {
  const name = choice && nameIn(choice);
  if (name === undefined || model.compat?.supportsNamedToolChoice !== false) return { choice, offered: tools };
  return { choice: "required" as const, offered: tools.filter((tool) => tool.name === name) };
}

/** A named choice whose tool is not offered would only be refused by the service. */
function isActive(choice: ToolChoice, tools: readonly { name: string }[]): boolean {
  const name = nameIn(choice);
  return name === undefined || tools.some((tool) => tool.name === name);
}

function nameIn(choice: ToolChoice): string | undefined {
  if (typeof choice === "string") return undefined;
  return "function" in choice ? choice.function.name : choice.name;
}
