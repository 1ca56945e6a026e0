// Why a model call failed, as data. Structured clues (codes, status, system errors) decide first; sentences are read
// only where structure says nothing. Nothing here ever sees a request, so no key can reach an error text.

import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import { overflowText, throttleText } from "../base/service-texts.js";
import type { ProviderFailure } from "../protocol/messages.js";
import { type ErrorDetails, readErrorDetails } from "./error-details.js";

type Kind = ProviderFailure["kind"];

/** A failed call: the sentence for people, the data for programs. */
export interface Problem {
  message: string;
  failure: ProviderFailure;
}

export interface Clues {
  status?: number;
  /** Most telling first. */
  codes?: readonly string[];
  text?: string;
  retryAfterMs?: number;
  details?: ErrorDetails;
}

export function classify(clues: Clues): ProviderFailure {
  const code = clues.codes?.[0];
  const { waitMs, quota } = clues.details ?? {};
  // With the quota of a day used up, services still name a wait of seconds.
  const retryAfterMs = quota === "day" ? undefined : (waitMs ?? clues.retryAfterMs);
  return { kind: kindOf(clues), status: clues.status, code, retryAfterMs };
}

/** A refusal by status; `body` is what could be read of the answer. */
export function problemOfResponse(answer: { status: number; body: string; retryAfterMs?: number }): Problem {
  const told = tell(parsed(answer.body) ?? answer.body);
  const { status } = answer;
  const code = told.codes[0];
  return {
    message: `HTTP ${status}${code ? ` ${code}` : ""}${told.text ? `: ${told.text}` : " (no body)"}`,
    failure: classify({
      ...told,
      status,
      ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
    }),
  };
}

/** An error object that came inside a stream, or in a body that should have been a stream. */
export function problemOfErrorObject(value: unknown): Problem {
  const told = tell(value);
  const code = told.codes[0];
  const text = told.text || "The service reported an error without saying which.";
  return { message: code ? `${code}: ${text}` : text, failure: classify(told) };
}

/** An answer of success that is JSON and no stream; `body` is what could be read of it. */
export function problemOfJson(body: string): Problem {
  const value = parsed(body);
  const outer: unknown = Array.isArray(value) ? value[0] : value;
  if (isObject(outer) && outer.error) return problemOfErrorObject(value);
  const message = `The service answered with JSON instead of a stream of events: ${excerpt(body, 200)}`;
  return { message, failure: { kind: "invalid_request" } };
}

/** An answer of success that is a page for people, most often one to log in. */
export function problemOfPage(body: string): Problem {
  const message = `The service answered with a web page instead of a stream of events: ${excerpt(body, 200)}`;
  return { message, failure: { kind: "invalid_request" } };
}

/** Anything thrown during a call: system errors, our own time limits, configuration errors. */
export function problemOfException(thrown: unknown): Problem {
  if (thrown instanceof GalleyError) {
    const kind = kindOfOurCode[thrown.code] ?? "unknown";
    return { message: thrown.message, failure: { kind, code: thrown.code } };
  }
  const cause = rootOf(thrown);
  const code = systemCode(cause);
  const detail = excerpt(messageOf(cause), 500);
  if (code !== undefined && networkCode.test(code)) {
    // Node's message for a cut reply is "aborted", which reads as if the user had asked for it.
    const text = detail === "aborted" ? "the service closed the connection before its reply ended" : detail;
    return { message: `Connection failed: ${text} (${code})`, failure: { kind: "network", code } };
  }
  return { message: detail, failure: classify({ text: detail, ...(code === undefined ? {} : { codes: [code] }) }) };
}

/** One line, bounded, without control characters. */
export function excerpt(text: string, maxCharacters: number): string {
  // Cut before the clean-up, so that its cost is bounded too.
  const head = text.slice(0, maxCharacters * 2);
  const line = head.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxCharacters || text.length > head.length ? `${line.slice(0, maxCharacters)}…` : line;
}

const kindOfOurCode: { [code: string]: Kind } = {
  timeout: "network",
  disconnected: "network",
  invalid_argument: "invalid_request",
  invalid_config: "invalid_request",
  unsupported: "invalid_request",
};

const networkCode = /^(?:ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET|EADDRNOTAVAIL|HPE_|UND_ERR_)/;

/** Codes that say more than the status they come with. */
const tellingCodes: { [code: string]: Kind } = {
  context_length_exceeded: "overflow",
  model_context_window_exceeded: "overflow",
  request_too_large: "overflow",
  insufficient_quota: "usage_limit",
  billing_error: "usage_limit",
  billing_hard_limit_reached: "usage_limit",
  usage_limit_reached: "usage_limit",
  rate_limit_error: "rate_limit",
  rate_limit_exceeded: "rate_limit",
  too_many_requests: "rate_limit",
  overloaded_error: "overloaded",
  invalid_api_key: "auth",
  API_KEY_INVALID: "auth",
  content_filter: "content_filter",
  content_policy_violation: "content_filter",
  refusal: "refusal",
};

/** Codes too general to overrule a status. */
const plainCodes: { [code: string]: Kind } = {
  api_error: "server",
  server_error: "server",
  internal_error: "server",
  internal_server_error: "server",
  timeout_error: "server",
  service_unavailable: "overloaded",
  network_error: "network",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_request_error: "invalid_request",
  not_found_error: "invalid_request",
  model_not_found: "invalid_request",
  RESOURCE_EXHAUSTED: "rate_limit",
  UNAVAILABLE: "overloaded",
  INTERNAL: "server",
  DEADLINE_EXCEEDED: "server",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
  INVALID_ARGUMENT: "invalid_request",
  FAILED_PRECONDITION: "invalid_request",
  NOT_FOUND: "invalid_request",
};

/** Some services refuse a key with 400, as a fault of the request. */
const refusedKeyText =
  /\bapi[ _-]?key (?:is |was )?(?:not valid|invalid|incorrect)\b|\b(?:invalid|incorrect) api[ _-]?key\b|\bAPI_KEY_INVALID\b/i;

const quotaText =
  /exceeded your current quota|insufficient[ _]quota|billing hard limit|credit balance is too low|usage limit (?:reached|exceeded)/i;

/** Read only when neither a status nor a known code came. Digits are whole words: "45000" holds no 500. */
const fallbackTexts: readonly [Kind, RegExp][] = [
  ["rate_limit", /\b429\b/],
  ["overloaded", /\boverloaded\b|\bservice unavailable\b|\b(?:503|529)\b/i],
  ["server", /\bserver error\b|\binternal error\b|\b(?:500|502|504)\b/i],
  [
    "network",
    /\bnetwork error\b|\bconnection (?:error|refused|reset|lost)\b|\bfetch failed\b|\bsocket hang up\b|\bother side closed\b|\btimed? out\b|\btimeout\b|\bterminated\b/i,
  ],
];

function kindOf({ status, codes = [], text = "", details = {} }: Clues): Kind {
  // The same sentence about a quota is sent for the minute and for the day; only the details tell them apart.
  if (details.quota === "day") return "usage_limit";
  const isLimit = status === 429 || codes.includes("RESOURCE_EXHAUSTED");
  if (isLimit && (details.waitMs !== undefined || details.quota === "minute")) return "rate_limit";
  const telling = lookUp(tellingCodes, codes);
  if (telling) return telling;
  // For these the status alone decides, whatever the text says.
  const isPlain = status === 401 || status === 404;
  if (!isPlain && quotaText.test(text)) return "usage_limit";
  if (!isPlain && status !== 403 && (status === 429 || throttleText.test(text))) return "rate_limit";
  if (!isPlain && status !== 403 && overflowText.test(text)) return "overflow";
  if (status !== undefined) return kindOfStatus(status, text);
  return lookUp(plainCodes, codes) ?? fallbackTexts.find(([, pattern]) => pattern.test(text))?.[0] ?? "unknown";
}

function kindOfStatus(status: number, text: string): Kind {
  // Some services answer an oversized request with a bare 400.
  if (status === 413 || (status === 400 && text === "")) return "overflow";
  if (status === 401 || status === 403 || (status === 400 && refusedKeyText.test(text))) return "auth";
  if (status === 402) return "usage_limit";
  if (status === 408) return "network";
  if (status === 503 || status === 529) return "overloaded";
  return status >= 500 ? "server" : "invalid_request";
}

function lookUp(table: { [code: string]: Kind }, codes: readonly string[]): Kind | undefined {
  for (const code of codes) if (Object.hasOwn(table, code)) return table[code];
  return undefined;
}

/** What an error body says, in any of the shapes services use. */
function tell(value: unknown): { text: string; codes: string[]; status?: number; details?: ErrorDetails } {
  if (typeof value === "string") return { text: excerpt(value, 1000), codes: [] };
  const outer = Array.isArray(value) ? value[0] : value;
  if (!isObject(outer)) return { text: "", codes: [] };
  const error = isObject(outer.error) ? outer.error : outer;
  const message = [error.message, outer.error, outer.message, outer.detail].find((text) => typeof text === "string");
  // A router says "Provider returned error" and keeps the real words here.
  const raw = isObject(error.metadata) && typeof error.metadata.raw === "string" ? ` ${error.metadata.raw}` : "";
  const text = excerpt(`${message ?? JSON.stringify(error)}${raw}`, 1000);
  const status = Number(error.code);
  const details = readErrorDetails(error.details);
  return {
    text,
    codes: codesOf(error, details.reason),
    details,
    ...(Number.isInteger(status) && status >= 400 && status < 600 ? { status } : {}),
  };
}

function codesOf(error: JsonObject, reason: string | undefined): string[] {
  return [error.code, error.type, error.status, reason]
    .filter(
      (code): code is string => typeof code === "string" && code !== "" && code !== "error" && !/^\d+$/.test(code),
    )
    .map((code) => excerpt(code, 100));
}

function parsed(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // plain text or HTML: quoted as it is
  }
}

/** The innermost error that carries a system code; several addresses tried at once come as an AggregateError. */
function rootOf(thrown: unknown): unknown {
  let current = thrown;
  for (let depth = 0; depth < 5; depth += 1) {
    const next = current instanceof AggregateError ? current.errors[0] : (current as { cause?: unknown } | null)?.cause;
    if (next === undefined || next === null) break;
    current = next;
  }
  return current;
}
