// How one kind of server is asked for its models. An asker tells of each model as it learns of it, so that what was
// learned before the time was over counts.

import type { Environment } from "../credentials.js";
import type { ModelFacts } from "./found-model.js";

/** The value at a path of the server; with a payload by POST. Undefined where the server refuses or sends no JSON. */
export type Ask = (path: string, payload?: unknown) => Promise<unknown>;

export interface AskerContext {
  readonly env: Environment;
  /** The model that the user named, which is asked about first. */
  readonly wanted?: string | undefined;
}

/** Rejects where the server cannot be reached. An answer of another kind of server tells of no model. */
export type Asker = (ask: Ask, tell: (facts: ModelFacts) => void, context: AskerContext) => Promise<void>;
