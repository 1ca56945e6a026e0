// What a page of a session is made from.

import type { AnyTool } from "../tools/tool.js";
import type { SessionRecord } from "./record.js";

/** The record as it stands, and what the model is told beside it. */
export interface PageSource extends Pick<SessionRecord, "header" | "tree" | "blobs"> {
  readonly live: { readonly systemPrompt: string; readonly tools: readonly AnyTool[] };
}

/** A page has its name from the session's file, or from its id where it has none. */
export interface NamedPageSource extends PageSource {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
}
