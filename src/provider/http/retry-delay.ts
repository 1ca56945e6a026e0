// How long a service asks to be left alone, by the headers of its refusal. What it says outright comes first; the times
// at which its limits are reset are read only where a limit was the reason.

import type { IncomingHttpHeaders } from "node:http";

/** In ms; undefined where nothing readable is said. */
export function retryDelayMs(status: number, headers: IncomingHttpHeaders, now: number): number | undefined {
  const asked = retryAfterMs(headers, now);
  if (asked !== undefined || status !== 429) return asked;
  return (
    resetMs(headers, /^anthropic-ratelimit-(.+)-reset$/, (limit) => `anthropic-ratelimit-${limit}-remaining`, now) ??
    resetMs(headers, /^x-ratelimit-reset-(.+)$/, (limit) => `x-ratelimit-remaining-${limit}`, now)
  );
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date. */
function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const exact = headers["retry-after-ms"];
  const rough = headers["retry-after"];
  const candidates = [
    typeof exact === "string" ? Number.parseFloat(exact) : Number.NaN,
    rough === undefined || !/^\s*[\d.]+\s*$/.test(rough) ? Number.NaN : Number.parseFloat(rough) * 1000,
    rough === undefined ? Number.NaN : Math.max(0, Date.parse(rough) - now),
  ];
  return candidates.find((value) => Number.isFinite(value) && value >= 0);
}

/** The last reset of the limits that are used up. Where none is said to be, the first reset of all: another try is cheap. */
function resetMs(
  headers: IncomingHttpHeaders,
  pattern: RegExp,
  remainingName: (limit: string) => string,
  now: number,
): number | undefined {
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const limit = pattern.exec(name)?.[1];
    const ms = limit === undefined ? undefined : waitMs(String(value), now);
    return limit === undefined || ms === undefined ? [] : [{ ms, isUsedUp: headers[remainingName(limit)] === "0" }];
  });
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp).map(({ ms }) => ms);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length === 0 ? undefined : Math.min(...resets.map(({ ms }) => ms));
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration (`6m0.5s`, `120ms`, seconds as a number) or a moment (a date, or seconds or milliseconds since 1970). */
function waitMs(text: string, now: number): number | undefined {
  const value = text.trim().slice(0, 64);
  if (/^\d+(\.\d+)?$/.test(value)) {
    const seconds = Number(value);
    if (seconds < 1e9) return seconds * 1000;
    return Math.max(0, (seconds < 1e12 ? seconds * 1000 : seconds) - now);
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value)) {
    const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
    return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMs[unit] ?? 0), 0);
  }
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}
