// How the review verbs answer: text or one JSON document on stdout, and the exit code of a failure.

import { type ErrorCode, GalleyError } from "../../base/errors.js";
import type { ExitReason } from "../exit-codes.js";

/** As it is: the caller has cleaned foreign text before it added the colours. */
export function print(text: string): void {
  process.stdout.write(text);
}

export function printJson(document: object): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

const usageCodes: readonly ErrorCode[] = ["usage", "invalid_argument", "depends"];

export function reasonOf(error: unknown): ExitReason {
  const code = error instanceof GalleyError ? error.code : undefined;
  if (code !== undefined && usageCodes.includes(code)) return "usage";
  return code === "file_refused" ? "denied" : "failed";
}
