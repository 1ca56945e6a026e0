// What a session needs to know about models, wherever the list comes from.

import type { ThinkingLevel } from "../../protocol/model.js";
import type { ProviderModel, StreamOptions } from "../../provider/provider.js";

export interface ModelChoice {
  readonly model: ProviderModel;
  readonly thinkingLevel?: ThinkingLevel;
}

/** What every request carries, whatever the model. */
export type RequestSettings = Pick<
  StreamOptions,
  | "temperature"
  | "sampling"
  | "thinkingBudgets"
  | "cacheRetention"
  | "sessionId"
  | "firstEventTimeoutMs"
  | "idleTimeoutMs"
  | "proxyVariables"
  | "onWarning"
>;

export interface ModelSource {
  /** Models with a usable credential; makes no network request. */
  available(): readonly ProviderModel[];
  /** With a credential or without; absent where only usable ones are known. */
  all?(): readonly ProviderModel[];
  /** With those of services that have no credential: reads every table. */
  allKnown?(): readonly ProviderModel[];
  find(provider: string, modelId: string): ProviderModel | undefined;
  hasCredential(model: ProviderModel): boolean;
  /** What the user is told about a model without a credential. */
  noKeyText(model: ProviderModel): string;
  /** Asked when a request is made, since a key may come from a command. */
  apiKeyFor(model: ProviderModel): Promise<string | undefined>;
  headersFor(model: ProviderModel): Promise<Record<string, string>>;
  /**
   * Before a prompt: looks for a better model than the current one on local servers, at most a second. `isChosen`: the
   * user named the current one. Undefined where there is nothing to look for.
   */
  discover?(
    current: ProviderModel,
    how: { isChosen: boolean; signal: AbortSignal },
  ): Promise<ProviderModel | undefined> | undefined;
  /** Asks the server of a model that is named and not known, where there is one. */
  learn?(provider: string, modelId: string): Promise<void>;
  /** The user may have stored or removed a key. */
  reloadKeys?(): Promise<void>;
  /** What cycling is limited to, in order; without it, everything available. */
  readonly scope?: readonly ModelChoice[];
  /** For other work than the conversation: what the user named for it, by role. */
  readonly roles?: ReadonlyMap<string, ModelChoice>;
  readonly requestSettings?: RequestSettings;
}
