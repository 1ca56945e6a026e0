// The names that a misspelt model may have meant, as a sentence behind the error.

import { GalleyError } from "../base/errors.js";

/** Begins with a space; empty where no name is near. */
export function suggestionsOf(error: unknown): string {
  const names = GalleyError.is(error, "model_not_found") ? error.details?.suggestions : undefined;
  return Array.isArray(names) && names.length > 0 ? ` Did you mean ${names.join(", ")}?` : "";
}
