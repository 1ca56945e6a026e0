// `get_messages_page`: a long conversation in answers of bounded size. A cursor only fits the conversation it was made
// for: pages of one series never mix two states of it.

import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { AgentSession } from "../../sdk/index.js";
import type { Handler } from "../handler.js";

const defaultLimit = 100;
const maxLimit = 256;
const maxPageBytes = 768 * 1024;
const maxCursorLength = 2048;

export const getMessagesPage: Handler<"get_messages_page"> = async ({ session }, { cursor, limit = defaultLimit }) => {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    throw new GalleyError("invalid_argument", `RPC message page limit must be between 1 and ${maxLimit}`);
  if (session.isStreaming || session.isCompacting)
    throw new GalleyError("session_busy", "Cannot page messages while the session is changing");
  const state = stateOf(session);
  const start = cursor === undefined ? 0 : offsetIn(cursor, state);
  const totalMessages = session.messages.length;
  const messages = await pageFrom(session, start, limit);
  const next = start + messages.length;
  const nextCursor = next < totalMessages ? { nextCursor: cursorAt(next, state) } : {};
  return { messages, ...nextCursor, totalMessages };
};

/** At least one message, however large it is. */
async function pageFrom(session: AgentSession, start: number, limit: number): Promise<AgentMessage[]> {
  const page: AgentMessage[] = [];
  let bytes = 0;
  for (const recorded of session.messages.slice(start, start + limit)) {
    const [message = recorded] = await session.withImages([recorded]); // one by one: few large ones fit a page
    bytes += Buffer.byteLength(JSON.stringify(message));
    if (page.length > 0 && bytes > maxPageBytes) break;
    page.push(message);
  }
  return page;
}

/** A short name of the state that the pages are cut from. */
function stateOf({ sessionId, sessionManager, messages }: AgentSession): string {
  return sha256Of(JSON.stringify([sessionId, sessionManager.tree.leafId, messages.length])).slice(0, 32);
}

function cursorAt(offset: number, state: string): string {
  return Buffer.from(`${offset} ${state}`).toString("base64url");
}

function offsetIn(cursor: string, state: string): number {
  const text = cursor.length > maxCursorLength ? "" : Buffer.from(cursor, "base64url").toString("latin1");
  const [, offset, made] = /^([1-9]\d{0,14}) ([0-9a-f]{32})$/.exec(text) ?? [];
  if (offset === undefined) throw new GalleyError("invalid_argument", "Invalid RPC message cursor");
  if (made !== state) throw new GalleyError("stale_cursor", "RPC message cursor is stale");
  return Number(offset);
}
