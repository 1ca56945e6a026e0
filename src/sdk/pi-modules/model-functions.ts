// Models for extensions: what they import to ask one themselves. A request is sent as the session's own are, and a
// failure is part of the answer, as published extensions expect.

import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { randomIds } from "../../base/ids.js";
import { parsePartialObject } from "../../loop/partial-json.js";
import { ReplyBuilder } from "../../loop/reply-builder.js";
import { validateArguments } from "../../loop/validate-arguments.js";
import type { ToolCall } from "../../protocol/content.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import type {
  ModelContext,
  ProviderModel,
  StreamEvent,
  StreamFunction,
  StreamOptions,
  ToolSpec,
} from "../../provider/provider.js";
import type { ModelSource } from "../../session/models/model-source.js";
import { overApi } from "../models/added-streams.js";
import { apiFunctions, createProvider, envApiKeyAuth, lazyApi, lazyStream } from "./made-providers.js";
import * as facts from "./model-facts.js";
import { piModel } from "./pi-model.js";
import { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from "./pushed-stream.js";
import { isInsideProvider } from "./registered-providers.js";
import { contextOf, transcriptFunctions } from "./transcripts.js";

export interface ModelFunctionsDeps {
  readonly models: ModelSource;
  /** Counts what is asked. */
  readonly stream: StreamFunction;
  /** Does not: for requests that are part of one which is counted. */
  readonly direct: StreamFunction;
  readonly clock: Clock;
}

export type ModelFunctions = ReturnType<typeof modelFunctions>;

/** The message so far comes with every event, the whole one with the last. */
export type ModelStreamEvent = (Delta & { readonly partial: AssistantMessage }) | FinalEvent;

type Delta = Exclude<StreamEvent, { type: "done" | "error" }>;

type FinalEvent =
  | { readonly type: "done"; readonly reason: string; readonly message: AssistantMessage }
  | { readonly type: "error"; readonly reason: string; readonly error: AssistantMessage };

export interface ModelStream extends AsyncIterable<ModelStreamEvent> {
  /** A caller that wants only the message need not read the events. Never rejects. */
  result(): Promise<AssistantMessage>;
}

type GivenContext = Pick<ModelContext, "messages"> & Partial<ModelContext>;

export function modelFunctions({ models, stream: counted, direct, clock }: ModelFunctionsDeps) {
  const optionsFor = async (model: ProviderModel, given: Partial<StreamOptions>): Promise<StreamOptions> => {
    const apiKey = given.apiKey ?? (await models.apiKeyFor(model));
    return {
      ...models.requestSettings,
      ...given,
      headers: { ...(await models.headersFor(model)), ...given.headers },
      signal: given.signal ?? new AbortController().signal,
      apiKey,
    };
  };

  async function* read(
    model: ProviderModel,
    context: GivenContext,
    given: Partial<StreamOptions>,
    { builder, ask }: { builder: ReplyBuilder; ask: StreamFunction },
  ): AsyncGenerator<ModelStreamEvent, void> {
    try {
      const options = await optionsFor(model, given);
      for await (const event of ask({ model, context: contextOf(context), options })) {
        builder.apply(event);
        if (event.type === "done") {
          const { message } = builder.finish({ stopReason: event.reason });
          yield { type: "done", reason: message.stopReason, message };
          return;
        }
        if (event.type === "error") {
          yield failed(builder, event.reason, event.errorMessage);
          return;
        }
        yield withPartial(event, builder);
      }
      yield failed(builder, "error", "The model's stream ended early");
    } catch (error) {
      yield failed(builder, "error", messageOf(error));
    }
  }

  const stream = (model: ProviderModel, context: GivenContext, options: Partial<StreamOptions> = {}): ModelStream => {
    const builder = new ReplyBuilder(model, clock.now());
    // What an extension's own model asks meanwhile is part of its reply.
    const ask = isInsideProvider() ? direct : counted;
    const events = read(model, context, options, { builder, ask });
    let settle = (_message: AssistantMessage) => {};
    const finished = new Promise<AssistantMessage>((resolve) => {
      settle = resolve;
    });
    let isRead = false;
    let hasEnded = false;
    const iterate = async function* () {
      isRead = true;
      try {
        for await (const event of events) {
          hasEnded = event.type === "done" || event.type === "error";
          if (event.type === "done") settle(event.message);
          else if (event.type === "error") settle(event.error);
          yield event;
        }
      } finally {
        // The reader has left, and the stream will not be read further.
        if (!hasEnded) settle(builder.finish({ stopReason: "aborted", errorMessage: "Request was aborted" }).message);
      }
    };
    return {
      [Symbol.asyncIterator]: iterate,
      async result() {
        if (!isRead) for await (const _event of iterate()); // no caller reads it, so it is read here
        return finished;
      },
    };
  };
  const complete = (...args: Parameters<typeof stream>) => stream(...args).result();
  const over = (api: string) => (model: ProviderModel, context: GivenContext, options?: Partial<StreamOptions>) =>
    stream(overApi(model, api), context, options);
  const getModel = (provider: string, modelId: string) => shown(models.find(provider, modelId));
  const getModels = (provider?: string) =>
    known(models)
      .filter((model) => provider === undefined || model.provider === provider)
      .map(piModel);
  const getProviders = () => [...new Set(known(models).map(({ provider }) => provider))];
  return {
    ...facts,
    ...transcriptFunctions,
    ...apiFunctions(over),
    EventStream,
    AssistantMessageEventStream,
    createAssistantMessageEventStream,
    createProvider,
    envApiKeyAuth,
    lazyApi,
    lazyStream,
    parseStreamingJson: (text = "") => parsePartialObject(text),
    validateToolArguments: argumentsFor,
    validateToolCall(tools: readonly ToolSpec[], call: Pick<ToolCall, "name" | "arguments">) {
      const tool = tools.find(({ name }) => name === call.name);
      if (!tool) throw new Error(`Tool "${call.name}" not found`);
      return argumentsFor(tool, call);
    },
    uuidv7: () => randomIds.session(clock.now()),
    stream,
    complete,
    streamSimple: stream,
    completeSimple: complete,
    getModel,
    getModels,
    getProviders,
    getBuiltinModel: getModel,
    getBuiltinModels: getModels,
    getBuiltinProviders: getProviders,
  };
}

/** Throws the sentence that a model is told. */
function argumentsFor({ name, parameters }: Pick<ToolSpec, "name" | "parameters">, call: Pick<ToolCall, "arguments">) {
  const checked = validateArguments(name, parameters, call.arguments);
  if (!checked.ok) throw new Error(checked.text);
  return checked.args;
}

function shown(model: ProviderModel | undefined) {
  return model && piModel(model);
}

function known(models: ModelSource): readonly ProviderModel[] {
  return models.allKnown?.() ?? models.all?.() ?? models.available();
}

/** As a getter: a caller that only wants the delta does not pay for the whole message. What ended comes whole. */
function withPartial(event: Delta, builder: ReplyBuilder) {
  const partial = builder.snapshot();
  const whole =
    event.type === "toolcall_end"
      ? { toolCall: builder.callAt(event.contentIndex).toolCall }
      : event.type === "text_end" || event.type === "thinking_end"
        ? { content: builder.textOf(event.contentIndex) }
        : {};
  return Object.defineProperty({ ...event, ...whole }, "partial", {
    enumerable: true,
    get: partial,
  }) as typeof event & {
    partial: AssistantMessage;
  };
}

function failed(builder: ReplyBuilder, reason: "error" | "aborted", errorMessage: string): FinalEvent {
  return { type: "error", reason, error: builder.finish({ stopReason: reason, errorMessage }).message };
}
