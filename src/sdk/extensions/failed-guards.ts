// A guard that could not be loaded would have refused some calls, and it is not known which. Until it is mended or
// removed, no call runs that writes or executes.

import type { ModuleLoadError } from "../../extensions/load/load.js";
import { type ApprovalPolicy, approveAll } from "../../session/approval.js";

/** What the model is told; undefined where every guard is in place. */
export function refusalWithout(errors: readonly ModuleLoadError[]): string | undefined {
  const [first, ...others] = errors.filter(({ isGuard }) => isGuard);
  if (!first) return undefined;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `Refused: the guard ${first.path}${more} could not be loaded. ${closedText}`;
}

export const closedText = "Until it is mended or removed, nothing is written and nothing is executed.";

/** Where nothing could be loaded, there may have been guards among it. */
export const allFailedText = `Refused: the extensions of this session could not be loaded. ${closedText}`;

/** `refusal` is asked at every call: a reload may close it or open it. */
export function unlessClosed(
  policy: ApprovalPolicy | undefined = approveAll,
  refusal: () => string | undefined,
): ApprovalPolicy {
  return async (request) => {
    const sentence = request.tier === "read" ? undefined : refusal();
    return sentence === undefined ? policy(request) : { block: sentence };
  };
}
