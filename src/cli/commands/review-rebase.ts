// `galley rebase`: a stale pending action made anew for the files as they are now. Writes no file.

import { GalleyError } from "../../base/errors.js";
import type { PendingLocation } from "../../sdk/pending-sessions.js";
import type { ExitReason } from "../exit-codes.js";
import type { PendingWords } from "./pending-words.js";

export async function rebase(_location: PendingLocation, _words: PendingWords): Promise<ExitReason> {
  throw new GalleyError("unsupported", "galley rebase is not there yet.");
}
