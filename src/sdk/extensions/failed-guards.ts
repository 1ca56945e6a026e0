// A guard that could not be loaded would have refused some calls, and it is not known which. Until it is mended or
// removed, no call runs that writes or executes.

import { moduleName } from "../../extensions/discover/findings.js";
import type { ModuleLoadError } from "../../extensions/load/load.js";
import { packageNameAt } from "../../extensions/load/load-packages.js";
import { type ApprovalPolicy, approveAll } from "../../session/approval.js";

/** What the model is told; undefined where every guard is in place. */
export function refusalWithout(errors: readonly ModuleLoadError[]): string | undefined {
  const [first, ...others] = errors.filter(({ isGuard }) => isGuard);
  if (!first) return undefined;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `Refused: the guard ${first.path}${more} could not be loaded. ${closedText}`;
}

/** For the user, one sentence for each: whose it is, and how to go on without it. */
export function waysOn(errors: readonly ModuleLoadError[]): { path: string; sentence: string }[] {
  return errors
    .filter(({ isGuard }) => isGuard)
    .map(({ path, source }) => {
      const name = packageNameAt(path);
      const whose = name === undefined ? path : `the package ${name} (${path})`;
      const isNamed = source?.provider === "config";
      const way = isNamed
        ? "leave out the option or the entry of the setting extensions that names it"
        : `start with --no-extensions, or set disabledExtensions to ["extension-module:${moduleName(path)}"]`;
      return {
        path,
        sentence: `Nothing is written or executed without the guard of ${whose}. To go on: mend it, or ${way}.`,
      };
    });
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
