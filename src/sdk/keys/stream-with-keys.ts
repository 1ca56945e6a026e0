// What a request does about its key: when a service refuses one that a command printed, the command runs again and the
// request is sent once more; and the text of a failure says what the user can do. The only place where that is said, so
// that a one-shot run, a host and a program read the same.

import { messageOf } from "../../base/errors.js";
import type { ModelRegistry } from "../../provider/models/model-registry.js";
import type { StreamEvent, StreamFunction, StreamRequest } from "../../provider/provider.js";

export type KeyAccess = Pick<ModelRegistry, "apiKeyFor" | "headersFor" | "keySource" | "forgetAnswers">;

type ErrorEvent = Extract<StreamEvent, { type: "error" }>;

export function streamWithKeys(stream: StreamFunction, keys: KeyAccess): StreamFunction {
  return async function* (request) {
    for await (const event of stream(request)) {
      if (event.type !== "error") {
        yield event;
        continue;
      }
      // A refusal is the whole answer: nothing of a reply came before it.
      const renewed = event.failure?.status === 401 ? await renew(request, event, keys) : { problem: event };
      if ("request" in renewed) yield* explained(stream(renewed.request), renewed.request, keys);
      else yield await explain(renewed.problem, request, keys);
      return;
    }
  };
}

/** The same request with what the commands answer now; the failure to report where nothing came from a command. */
async function renew(
  request: StreamRequest,
  event: ErrorEvent,
  keys: KeyAccess,
): Promise<{ request: StreamRequest } | { problem: ErrorEvent }> {
  const { model, options } = request;
  if (options.signal.aborted || !keys.forgetAnswers(model, options)) return { problem: event };
  try {
    const apiKey = options.apiKey === undefined ? undefined : await keys.apiKeyFor(model);
    const headers = { ...options.headers, ...(await keys.headersFor(model)) };
    return { request: { ...request, options: { ...options, headers, ...(apiKey === undefined ? {} : { apiKey }) } } };
  } catch (error) {
    return { problem: withSentence(event, messageOf(error)) };
  }
}

async function* explained(
  events: AsyncIterable<StreamEvent>,
  request: StreamRequest,
  keys: KeyAccess,
): AsyncGenerator<StreamEvent> {
  for await (const event of events) yield event.type === "error" ? await explain(event, request, keys) : event;
}

async function explain(event: ErrorEvent, { model, options }: StreamRequest, keys: KeyAccess): Promise<ErrorEvent> {
  if (event.reason === "aborted" || event.failure === undefined) return event;
  const { adviceFor } = await import("./failure-advice.js"); // most requests do not fail
  const advice = adviceFor(event.errorMessage, event.failure, {
    model,
    keySource: keys.keySource(model, options.apiKey),
    hasKey: options.apiKey !== undefined,
    hasHeaders: Object.keys(options.headers ?? {}).length > 0,
  });
  return advice === undefined ? event : withSentence(event, advice);
}

function withSentence(event: ErrorEvent, sentence: string): ErrorEvent {
  const { errorMessage } = event;
  return { ...event, errorMessage: `${errorMessage}${/[.!?…]$/.test(errorMessage) ? "" : "."} ${sentence}` };
}
