// The typed details that Google puts beside an error: how long to wait, which quota is used up, and the reason.

import { isObject, type JsonObject } from "../base/json.js";

export interface ErrorDetails {
  /** The service names a time to wait: the limit is one that passes. */
  readonly waitMs?: number;
  /** Whose quota is used up. That of a day does not pass by waiting, whatever else the error says. */
  readonly quota?: "minute" | "day";
  readonly reason?: string;
}

/** `details` as it came; what does not look as expected says nothing. */
export function readErrorDetails(details: unknown): ErrorDetails {
  const found: { -readonly [Name in keyof ErrorDetails]: ErrorDetails[Name] } = {};
  for (const detail of Array.isArray(details) ? details.slice(0, 20) : []) {
    if (!isObject(detail)) continue;
    const type = String(detail["@type"]).split(".").at(-1);
    if (type === "RetryInfo") Object.assign(found, readWait(detail.retryDelay));
    else if (type === "QuotaFailure") Object.assign(found, readQuota(detail));
    else if (type === "ErrorInfo" && typeof detail.reason === "string") found.reason = detail.reason;
  }
  return found;
}

/** Seconds, as in `34.07s`. */
function readWait(delay: unknown): { waitMs?: number } {
  const seconds = typeof delay === "string" ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? {} : { waitMs: Math.ceil(Number(seconds) * 1000) };
}

function readQuota({ violations }: JsonObject): Pick<ErrorDetails, "quota"> {
  const ids = Array.isArray(violations) ? violations.map((violation) => isObject(violation) && violation.quotaId) : [];
  if (ids.some((id) => /PerDay/.test(String(id)))) return { quota: "day" };
  return ids.some((id) => /PerMinute/.test(String(id))) ? { quota: "minute" } : {};
}
