// What a session masks of the results of its tools, before the model or anything else sees them. The setting
// `secrets.maskForModel` turns it off; what leaves the session is masked all the same.

import { maskKeyShapes } from "../../base/key-shapes.js";
import { type ByteMask, maskBytes, minBeginning } from "../../base/text-mask.js";
import type { SessionEnvironment } from "../session-environment.js";

/** Known secrets, also where a tool cut one off, and keys that are known by their shape. */
export function resultMask(environment: SessionEnvironment): ((text: string) => string) | undefined {
  const { secrets } = environment;
  return isOff(environment) ? undefined : (text) => maskKeyShapes(secrets.excerpt(text, minBeginning));
}

/** Of one command, before its output is cut. */
export function outputMask(environment: SessionEnvironment): (() => ByteMask | undefined) | undefined {
  const { secrets } = environment;
  return isOff(environment) ? undefined : () => (secrets.isActive ? maskBytes(secrets.stream()) : undefined);
}

function isOff({ settings }: SessionEnvironment): boolean {
  return settings.get("secrets.maskForModel") === "off";
}
