// Requests that wait for their answer, and which answer belongs to which. Some failures come without an id: they are
// matched by their other fields, and never by guessing among several.

import type { TypedObject } from "../base/ndjson.js";
import { RpcError } from "./rpc-error.js";

interface Pending {
  command: string;
  resolve(data: unknown): void;
  reject(error: unknown): void;
}

export class PendingRequests {
  readonly #byId = new Map<string, Pending>();

  add(id: string, command: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#byId.set(id, { command, resolve, reject }));
  }

  /** Without an error, the waiting caller has given up. */
  forget(id: string, error?: unknown): void {
    if (error !== undefined) this.#byId.get(id)?.reject(error);
    this.#byId.delete(id);
  }

  /** False if no request waits for this response. */
  answer(response: TypedObject): boolean {
    const id = this.#idOf(response);
    const pending = this.#byId.get(id);
    if (!pending) return false;
    this.#byId.delete(id);
    if (response.success === true) pending.resolve(response.data);
    else pending.reject(failureOf(response, "refused", id, pending.command));
    return true;
  }

  rejectAll(errorOf: (command: string, requestId: string) => RpcError): void {
    const all = [...this.#byId];
    this.#byId.clear();
    for (const [id, { command, reject }] of all) reject(errorOf(command, id));
  }

  /** Empty if it belongs to no request. */
  #idOf(response: TypedObject): string {
    for (const id of [response.id, response.requestId]) if (typeof id === "string") return id;
    if (response.success === true) return "";
    const { command: name } = response;
    const [first, second] = [...this.#byId].filter(([, { command }]) => name === "parse" || name === command);
    return first && !second ? first[0] : "";
  }
}

export function failureOf(
  response: TypedObject,
  kind: "refused" | "late" | "protocol",
  requestId?: string,
  command = String(response.command),
): RpcError {
  const code = typeof response.code === "string" ? response.code : undefined;
  return new RpcError(kind, String(response.error), { command, code, requestId });
}
