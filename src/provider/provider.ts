// The provider contract: what the loop knows of any model service. A provider turns one request into one stream of
// deltas; it keeps no state, retries nothing, and knows neither sessions nor what tools do.

import type { JsonSchema } from "../base/json.js";
import type {
  AssistantMessage,
  DeveloperMessage,
  ProviderFailure,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../protocol/messages.js";
import type { Model } from "../protocol/model.js";
import type { ModelPrices } from "./prices.js";
import type { ModelThinking } from "./thinking-levels.js";

export { capabilitiesOf, type ModelCapabilities, plannerApi } from "./capabilities.js";
export { type ModelPrices, type PriceTier, pricesAt } from "./prices.js";
export {
  canBeOff,
  type Effort,
  levelNamed,
  type ModelThinking,
  nearestEffort,
  splitLevel,
  supportedEfforts,
} from "./thinking-levels.js";

/** The messages a model may be sent; every other role was converted before. */
export type ModelMessage = UserMessage | DeveloperMessage | AssistantMessage | ToolResultMessage;

export interface ToolSpec {
  name: string;
  description: string;
  parameters: JsonSchema;
  strict?: boolean;
}

export type ToolChoice =
  | "auto"
  | "none"
  | "any"
  | "required"
  | { type: "tool"; name: string }
  | { type: "function"; name: string }
  | { type: "function"; function: { name: string } };

/** A model with what hosts do not see. */
export interface ProviderModel extends Omit<Model, "cost" | "thinking"> {
  /** Absent: the price is not known, which is not the same as free. */
  cost?: ModelPrices;
  thinking?: ModelThinking;
  headers?: Record<string, string>;
  /** The variable that names `baseUrl`, where one does: what is wrong with the address is to be mended there. */
  baseUrlSource?: string;
}

export interface ModelContext {
  systemPrompt: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolSpec[];
}

/** Sampling options. The service decides about absent ones; options that a service does not know are not sent. */
export interface Sampling {
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
}

export interface StreamOptions {
  signal: AbortSignal;
  apiKey?: string;
  /** Default: the smaller of the model's limit and 32000. */
  maxTokens?: number;
  /** `maxTokens` may be raised to make room for thoughts, but never above this. */
  outputLimit?: number;
  temperature?: number;
  sampling?: Sampling;
  /** Absent: no reasoning. */
  reasoning?: "minimal" | "low" | "medium" | "high" | "xhigh";
  thinkingBudgets?: Partial<Record<"minimal" | "low" | "medium" | "high" | "xhigh", number>>;
  toolChoice?: ToolChoice;
  headers?: Record<string, string>;
  /** For services that cache per conversation. */
  sessionId?: string;
  cacheRetention?: "short" | "long";
  /** Sees the request body just before it is sent. An object that it returns is sent instead. */
  onPayload?: (payload: unknown) => unknown;
  /** Told what the service answers with, before its body is read. */
  onResponse?: (response: { status: number; headers: Record<string, string> }) => unknown;
  /** Told what of the request the service was not asked for. May come with every request. */
  onWarning?: (text: string) => void;
  /** 0 switches a watchdog off. */
  firstEventTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** HTTPS_PROXY and NO_PROXY, in either case, as the user has set them. Default: the process's own. */
  proxyVariables?: Readonly<Record<string, string | undefined>>;
}

export interface StreamRequest {
  model: ProviderModel;
  context: ModelContext;
  options: StreamOptions;
}

/**
 * One step of a reply. Blocks start in ascending `contentIndex` order; a block is `*_start`, any number of deltas,
 * `*_end`; blocks may interleave. `start` comes once, with the first sign of life from the service. Exactly one
 * terminal event (`done` or `error`) ends the stream; an `error` may come without `start`. Events carry no running
 * copy of the message, so a reply costs time linear in its length.
 */
export type StreamEvent =
  | { type: "start"; responseId?: string; usage?: Usage }
  | { type: "text_start"; contentIndex: number }
  | { type: "text_delta"; contentIndex: number; delta: string }
  | { type: "text_end"; contentIndex: number; textSignature?: string }
  | { type: "thinking_start"; contentIndex: number }
  | { type: "thinking_delta"; contentIndex: number; delta: string }
  | { type: "thinking_end"; contentIndex: number; thinkingSignature?: string }
  | { type: "redacted_thinking"; contentIndex: number; data: string }
  | { type: "toolcall_start"; contentIndex: number; id: string; name: string }
  /** `delta` is a fragment of the arguments' JSON text. */
  | { type: "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "toolcall_end"; contentIndex: number; thoughtSignature?: string }
  | { type: "done"; reason: "stop" | "length" | "toolUse"; usage: Usage; responseId?: string }
  | {
      type: "error";
      reason: "error" | "aborted";
      errorMessage: string;
      failure?: ProviderFailure;
      usage?: Usage;
      responseId?: string;
    };

/** Never throws once the iterable exists: every failure is an `error` event. Returning early closes the connection. */
export type StreamFunction = (request: StreamRequest) => AsyncIterable<StreamEvent>;

/** A sane reply has fewer calls: with more the reply is an error. */
export const maxCallsPerReply = 128;

export const zeroUsage: Usage = Object.freeze({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }),
});
