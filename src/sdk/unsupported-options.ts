// Options that programs written for this interface pass and this version does not support. Ignoring them would be a
// false promise; an option that only asks for their absence is fine.

import { GalleyError } from "../base/errors.js";

const unsupportedOptions = ["hasUI", "taskDepth", "outputSchema", "parentTaskPrefix"];

/** Throws `unsupported`. */
export function refuseUnsupportedOptions(options: object): void {
  const given = Object.entries(options).filter(
    ([name, value]) => unsupportedOptions.includes(name) && !isAbsence(value),
  );
  if (given.length === 0) return;
  const names = given.map(([name]) => name).join(", ");
  throw new GalleyError("unsupported", `createAgentSession: not in this version yet: ${names}.`);
}

function isAbsence(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}
