// Small checks for configuration values. Each returns the value with its type proved, or throws `invalid_config` with
// the path in `details` and what was expected there. No sentence repeats a value: it may be a secret.

import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";

export type Check<T> = (value: unknown, path: string) => T;

export function mismatch(path: string, message: string): never {
  throw new GalleyError("invalid_config", message, { details: { path } });
}

/** `path.key`, or `path["key"]` where the key is not a plain word, so that no key can garble a terminal. */
export function step(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!/^[\w-]{1,80}$/.test(key)) return `${path}[${JSON.stringify(key.slice(0, 80))}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** A member that may be missing. An empty YAML value is null and counts as missing. */
export function optional<T>(object: JsonObject, key: string, at: { path: string; check: Check<T> }): T | undefined {
  const value = object[key];
  return value === undefined || value === null ? undefined : at.check(value, step(at.path, key));
}

/** Without the members that were missing. */
export function withoutMissing<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

export const object: Check<JsonObject> = (value, path) =>
  isObject(value) ? value : mismatch(path, "expected an object");

export const array: Check<unknown[]> = (value, path) =>
  Array.isArray(value) ? value : mismatch(path, "expected an array");

export const boolean: Check<boolean> = (value, path) =>
  typeof value === "boolean" ? value : mismatch(path, "expected true or false");

export const text: Check<string> = (value, path) =>
  typeof value === "string" && value.trim() !== "" && !/\p{Cc}/u.test(value)
    ? value
    : mismatch(path, "expected a text of one line, not empty");

export const tokenCount: Check<number> = (value, path) =>
  Number.isSafeInteger(value) && (value as number) > 0
    ? (value as number)
    : mismatch(path, "expected a whole number above 0");

export const price: Check<number> = (value, path) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0
    ? value
    : mismatch(path, "expected a number from 0 up");

export function oneOf<const T extends string>(allowed: readonly T[]): Check<T> {
  return (value, path) =>
    allowed.find((candidate) => candidate === value) ?? mismatch(path, `expected one of ${allowed.join(", ")}`);
}

/** Plain HTTP only to this machine: elsewhere the key would travel in the clear. */
export const serverUrl: Check<string> = (value, path) => {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return mismatch(path, "expected an http or https URL");
  if (url.protocol === "http:" && !isLoopback(url))
    return mismatch(path, "expected https: plain http is for loopback hosts only");
  if (url.username !== "" || url.password !== "")
    return mismatch(path, "expected a URL without user name and password");
  if (url.search !== "" || url.hash !== "") return mismatch(path, "expected a URL without query and fragment");
  return url.href.replace(/\/+$/, "");
};

export function isLoopbackUrl(value: string): boolean {
  const url = parseUrl(value);
  return url !== undefined && isLoopback(url);
}

function parseUrl(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}

export function isLoopback(url: URL): boolean {
  // The parser has already turned every spelling of an IPv4 address into four decimal numbers.
  return url.hostname === "localhost" || url.hostname === "[::1]" || /^127(\.\d+){3}$/.test(url.hostname);
}
