// Models of the AI SDK as models of a session: the caller brings the package, this adapter imports none. What the package
// says of its own (`providerMetadata`) is kept as the signature of a block and goes back to the same model only.

import { AbortRace, linkAbort } from "../base/abort.js";
import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import { AiSdkReader } from "./ai-sdk-reader.js";
import { aiSdkCall } from "./ai-sdk-request.js";
import { type Problem, problemOfErrorObject, problemOfException, problemOfResponse } from "./failures.js";
import { retryDelayMs } from "./http/retry-delay.js";
import { createWatchdog } from "./http/watchdog.js";
import { failed } from "./http/wire.js";
import { mergeDeltas } from "./merge-deltas.js";
import type { ModelPrices, ProviderModel, StreamEvent, StreamFunction, StreamRequest } from "./provider.js";

/** As much of the AI SDK's `LanguageModelV3` and `LanguageModelV4` as is used. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ stream: AiSdkStream }>;
}

/** As much of a `ReadableStream`. */
export interface AiSdkStream {
  getReader(): {
    read(): PromiseLike<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): PromiseLike<void>;
  };
}

export interface AiSdkModelOptions {
  /** Default: 128000. */
  contextWindow?: number;
  /** Default: 16384. */
  maxTokens?: number;
  /** Default: not known. */
  cost?: ModelPrices;
  /** Whether the model thinks; default: no. Levels are sent to models of v4 only: v3 has no word for them. */
  reasoning?: boolean;
  /** Default: text. */
  input?: readonly ("text" | "image")[];
  /** Goes with every request, as in the AI SDK: `{ openai: { store: false } }`. */
  providerOptions?: Readonly<Record<string, JsonObject>>;
}

/** Both go to `createAgentSession`. Throws `unsupported` for a model of another specification. */
export function aiSdkModel(
  model: AiSdkLanguageModel,
  options: AiSdkModelOptions = {},
): { model: ProviderModel; streamFn: StreamFunction } {
  const version: unknown = isObject(model) ? model.specificationVersion : undefined;
  if (version !== "v3" && version !== "v4") {
    const name = isObject(model) ? `${model.provider}/${model.modelId}` : String(model);
    throw new GalleyError(
      "unsupported",
      `aiSdkModel takes AI SDK models of the specification v3 or v4; ${name} has ${String(version)}.`,
    );
  }
  const { contextWindow = 128_000, maxTokens = 16_384, cost, reasoning = false, input = ["text"] } = options;
  return {
    model: {
      id: model.modelId,
      name: model.modelId,
      api: "ai-sdk",
      provider: model.provider,
      baseUrl: "",
      reasoning,
      ...(reasoning && version === "v4"
        ? { thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "effort" } }
        : {}),
      input: [...input],
      ...(cost === undefined ? {} : { cost }),
      contextWindow,
      maxTokens,
    },
    streamFn: (request) => streamAiSdk(model, request, options.providerOptions),
  };
}

async function* streamAiSdk(
  source: AiSdkLanguageModel,
  request: StreamRequest,
  providerOptions: AiSdkModelOptions["providerOptions"],
): AsyncGenerator<StreamEvent> {
  const { options } = request;
  const { signal } = options;
  const reader = new AiSdkReader(request.model);
  const stop = linkAbort(signal);
  const race = new AbortRace(stop.signal);
  const watchdog = createWatchdog({
    clock: systemClock,
    firstEventTimeoutMs: options.firstEventTimeoutMs ?? 120_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    onExpired: (error) => stop.abort(error),
  });
  // A model that does not heed its signal must not hold the session.
  const wait = async <T>(promise: PromiseLike<T>): Promise<T> => {
    const outcome = await race.next(Promise.resolve(promise));
    if (outcome === "aborted") throw stop.signal.reason;
    return outcome as T;
  };
  let parts: ReturnType<AiSdkStream["getReader"]> | undefined;
  try {
    const asked = aiSdkCall(request, source.specificationVersion);
    const call = providerOptions ? { ...asked, providerOptions } : asked;
    options.onPayload?.(JSON.parse(JSON.stringify(call)));
    parts = (await wait(source.doStream({ ...call, abortSignal: stop.signal }))).stream.getReader();
    for (let isOver = false; !isOver; ) {
      watchdog.waiting();
      const { done, value } = await wait(parts.read());
      watchdog.fed();
      const out: StreamEvent[] = [];
      isOver = done || (isObject(value) && reader.read(value, problemOfThrown, out));
      if (done) reader.end(out);
      yield* mergeDeltas(out);
    }
  } catch (error) {
    const thrown = stop.signal.aborted ? stop.signal.reason : error;
    if (signal.aborted)
      yield { type: "error", reason: "aborted", errorMessage: "Request was aborted", ...reader.known };
    else yield failed(problemOfThrown(thrown), reader.known);
  } finally {
    watchdog.stop();
    race.release();
    if (reader.hasIgnoredTools) options.onWarning?.(ignoredTools(request.model));
    stop.release();
    stop.abort();
    parts?.cancel().then(undefined, () => {}); // already closed, or failed as told above
  }
}

/** An `APICallError` by its members: the package's own class is not at hand. Its request is never read. */
function problemOfThrown(thrown: unknown): Problem {
  if (!isObject(thrown)) return problemOfErrorObject(thrown);
  const { statusCode: status, responseBody, responseHeaders } = thrown;
  if (typeof status === "number" && status >= 400) {
    const headers = isObject(responseHeaders) ? (responseHeaders as Record<string, string>) : {};
    const waitMs = retryDelayMs(status, headers, systemClock.now());
    const body = typeof responseBody === "string" && responseBody !== "" ? responseBody : messageOf(thrown);
    return problemOfResponse({ status, body, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) });
  }
  return thrown instanceof Error ? problemOfException(thrown) : problemOfErrorObject(thrown);
}

function ignoredTools({ provider, id }: ProviderModel): string {
  return `${provider}/${id} runs tools of its own: galley ignores such calls and their results.`;
}
