// A limit on how often the models of a session are asked. The reply that reaches it is finished, with its calls; the
// next request is not sent.

import type { StreamFunction } from "../provider/provider.js";

export interface Budget {
  readonly maxTurns?: number;
}

/** A limit that was reached: the request after it was not sent. */
export interface BudgetExceeded {
  readonly kind: "turns";
  readonly limit: number;
  readonly used: number;
}

export function withTurnBudget(
  stream: StreamFunction,
  { maxTurns }: Budget,
  tell: ((exceeded: BudgetExceeded) => void) | undefined,
): StreamFunction {
  if (maxTurns === undefined) return stream;
  let used = 0;
  return (request) => {
    if (used < maxTurns) {
      used++;
      return stream(request);
    }
    tell?.({ kind: "turns", limit: maxTurns, used });
    return refused(`Stopped: the limit of ${maxTurns} turn${maxTurns === 1 ? "" : "s"} is used up.`);
  };
}

/** Of a kind that is not retried. */
async function* refused(errorMessage: string): ReturnType<StreamFunction> {
  yield { type: "error", reason: "error", errorMessage, failure: { kind: "invalid_request" } };
}
