// A request to a model as extensions see it: its body, which they may replace, and the first lines of the answer.

import { AbortRace } from "../../base/abort.js";
import type { ExtensionRunner } from "./extension-runner.js";

/** What a provider calls on its way. */
export interface RequestHooks {
  readonly onPayload?: ((payload: unknown) => unknown) | undefined;
  readonly onResponse?: ((response: { status: number; headers: Record<string, string> }) => unknown) | undefined;
}

interface Asked extends RequestHooks {
  readonly signal: AbortSignal;
}

/** The same request where no extension listens. */
export function withRequestHooks<Request extends { readonly options: Asked }>(
  runner: Parameters<typeof requestHooks>[0],
  request: Request,
): Request {
  const hooks = requestHooks(runner, request.options);
  return hooks ? { ...request, options: { ...request.options, ...hooks } } : request;
}

/** Undefined where no extension listens. After the signal none of them is waited for. */
function requestHooks(
  runner: Pick<ExtensionRunner, "emit" | "hasHandlers"> | undefined,
  { signal, onPayload, onResponse }: Asked,
): RequestHooks | undefined {
  const seesPayload = runner?.hasHandlers("before_provider_request");
  const seesResponse = runner?.hasHandlers("after_provider_response");
  if (!runner || !(seesPayload || seesResponse)) return undefined;
  const untilStopped = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
    const race = new AbortRace(signal);
    const answer = await race.next(asked).finally(() => race.release());
    if (answer === "aborted") throw signal.reason;
    return answer;
  };
  return {
    onPayload: seesPayload
      ? async (given) => {
          const payload = ((await onPayload?.(given)) ?? given) as Record<string, unknown>;
          return (await untilStopped(runner.emit({ type: "before_provider_request", payload }, signal))).payload;
        }
      : onPayload,
    onResponse: seesResponse
      ? async (response) => {
          await onResponse?.(response);
          await untilStopped(runner.emit({ type: "after_provider_response", ...response }, signal));
        }
      : onResponse,
  };
}
