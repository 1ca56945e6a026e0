// One command on its way to its answer. Knows the correlation rules: which failures carry the request's id, and that
// a late failure comes after the success it contradicts.

import { type ErrorCode, GalleyError, messageOf } from "../base/errors.js";
import type { TypedObject } from "../base/ndjson.js";
import type { Features } from "./features.js";
import type { Outbox } from "./outbox.js";

const maxIdBytes = 512;
const maxTypeLength = 512;

/** Codes that hosts act on. The others are internal: a host that saw them would come to depend on them. */
const toldCodes: ReadonlySet<ErrorCode> = new Set([
  "depends",
  "revision_mismatch",
  "session_busy",
  "session_missing",
  "stale_cursor",
  "unknown_since",
]);

export class Request {
  readonly type: string;
  /** As far as it can be repeated. */
  readonly id: string | number | undefined;
  readonly #outbox: Outbox;
  readonly #features: Features;
  #isAnswered = false;
  #isGivenUp = false;

  constructor(frame: TypedObject, outbox: Outbox, features: Features) {
    // It is repeated in the answer, three times when the command is unknown: a long one must not be multiplied.
    this.type = frame.type.length > maxTypeLength ? `${frame.type.slice(0, maxTypeLength)}…` : frame.type;
    this.id = usableId(frame.id);
    this.#outbox = outbox;
    this.#features = features;
  }

  /** Once; later calls change nothing, because the host has its answer (a handler may give it early). */
  succeed(data?: unknown): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#outbox.send({ id: this.id, type: "response", command: this.type, success: true, data });
  }

  /** A refusal: the sentence is part of the contract, and so is the code where there is one. */
  refuse(error: string, code?: string, details?: object): void {
    this.#isAnswered = true;
    this.#outbox.send({ id: this.id, type: "response", command: this.type, success: false, error, code, details });
  }

  /** Where the program cannot wait for the answer. One that comes late is not sent. */
  giveUp(error: string): void {
    if (!this.#isAnswered) this.refuse(error);
    this.#isGivenUp = true;
  }

  /** What a handler threw. A GalleyError is a refusal; anything else is an internal error. */
  fail(thrown: unknown): void {
    if (this.#isGivenUp) return;
    if (thrown instanceof GalleyError && toldCodes.has(thrown.code)) {
      // The list of what would be written too: a host shows it before it asks again.
      const details = thrown.code === "depends" ? thrown.details : undefined;
      return this.refuse(thrown.message, thrown.code, details);
    }
    if (thrown instanceof GalleyError || this.#isAnswered) return this.refuse(messageOf(thrown));
    this.#isAnswered = true;
    const error = `Failed to parse command: ${messageOf(thrown)}`;
    this.#outbox.send({ ...this.#uncorrelated("parse"), success: false, error, ...this.#hints() });
  }

  refuseUnknown(): void {
    this.#isAnswered = true;
    const error = `Unknown command: ${this.type}`;
    this.#outbox.send({ ...this.#uncorrelated(this.type), success: false, error, ...this.#hints() });
  }

  /** The plain protocol leaves the id out here; a host that negotiated gets it. */
  #uncorrelated(command: string): object {
    if (!this.#features.has("echo-ids")) return { type: "response", command };
    return { id: this.id, type: "response", command: this.type };
  }

  #hints(): object {
    return { requestId: this.id, requestCommand: this.type };
  }
}

function usableId(id: unknown): string | number | undefined {
  if (typeof id === "string") return Buffer.byteLength(id) <= maxIdBytes ? id : undefined;
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
