// How the review verbs answer: text or one JSON document on stdout, without known secrets, and the exit code of a
// failure.

import { type ErrorCode, GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { noMask } from "../../base/text-mask.js";
import { findSecrets } from "../../sdk/secrets/find-secrets.js";
import type { ExitReason } from "../exit-codes.js";
import { printPaged } from "../pager.js";

/** Known once the verb runs. */
let secrets = noMask;

export async function hideSecrets(location: { cwd: string; agentDir: string }): Promise<void> {
  secrets = await findSecrets(location);
}

/** As it is: the caller has cleaned foreign text before it added the colours. */
export function print(text: string): void {
  process.stdout.write(secrets.mask(text));
}

export function printLong(text: string): Promise<void> {
  return printPaged(secrets.mask(text));
}

export function printJson(document: object): void {
  process.stdout.write(`${secrets.line(JSON.stringify(document))}\n`);
}

export function printError(text: string): void {
  process.stderr.write(secrets.mask(sanitizeForTerminal(text)));
}

const usageCodes: readonly ErrorCode[] = ["usage", "invalid_argument", "depends"];

export function reasonOf(error: unknown): ExitReason {
  const code = error instanceof GalleyError ? error.code : undefined;
  if (code !== undefined && usageCodes.includes(code)) return "usage";
  return code === "file_refused" || code === "protected" ? "denied" : "failed";
}
