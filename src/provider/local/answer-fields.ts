// What a server's answer holds, read with distrust: any program may listen at the port, so each member is used only if it
// has the type that it should have.

import { isObject, type JsonObject } from "../../base/json.js";

const maxMembers = 500;

/** The members of a list that are objects. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.slice(0, maxMembers).filter(isObject) : [];
}

export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A name of one line that a terminal and a session file can hold. */
export function name(value: unknown): string | undefined {
  return typeof value === "string" && /^[^\p{C}\s][^\p{C}]{0,255}$/u.test(value) ? value : undefined;
}

export function tokens(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
