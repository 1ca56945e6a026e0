import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RpcData } from "../../protocol/data.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { AgentSession } from "../../sdk/index.js";
import { openSession } from "../../testing/open-session.js";
import { gate, say } from "../../testing/scripted-model.js";
import type { HandlerContext } from "../handler.js";
import { getMessagesPage } from "./get-messages-page.js";

type Page = RpcData["get_messages_page"];

async function page(session: AgentSession, fields: { cursor?: string; limit?: number } = {}): Promise<Page> {
  return getMessagesPage({ session } as HandlerContext, { type: "get_messages_page", ...fields }) as Promise<Page>;
}

function told(session: AgentSession, ...texts: string[]): void {
  for (const text of texts) session.sessionManager.appendMessage(userMessage(text));
}

function userMessage(text: string): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], attribution: "user", timestamp: 0 };
}

/** Every page from the first to the last. */
async function pages(session: AgentSession, limit?: number): Promise<Page[]> {
  const all: Page[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(session, { ...(cursor ? { cursor } : {}), ...(limit ? { limit } : {}) });
    all.push(next);
    cursor = next.nextCursor;
  } while (cursor !== undefined);
  return all;
}

describe("get_messages_page", () => {
  it("gives the whole conversation, whatever the limit and the sizes", async () => {
    const { session } = await openSession();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(1, 100, 300_000, 800_000), { maxLength: 12 }),
        fc.integer({ min: 1, max: 256 }),
        async (sizes, limit) => {
          await session.newSession();
          told(session, ...sizes.map((size) => "x".repeat(size)));
          const all = await pages(session, limit);
          expect(all.flatMap(({ messages }) => messages).length).toBe(session.messages.length);
          expect(all.flatMap(({ messages }) => messages).every((given, at) => given === session.messages[at])).toBe(
            true,
          );
          for (const { messages, totalMessages } of all) {
            expect(totalMessages).toBe(sizes.length);
            expect(messages.length).toBeLessThanOrEqual(limit);
            expect(messages.length > 1 && JSON.stringify(messages).length > 768 * 1024 + 100).toBe(false);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it("takes 100 messages unless told otherwise, and has no cursor on the last page", async () => {
    const { session } = await openSession();
    expect(await page(session)).toEqual({ messages: [], totalMessages: 0 });
    told(session, ...Array.from({ length: 130 }, (_, index) => `${index}`));
    expect((await pages(session)).map(({ messages }) => messages.length)).toEqual([100, 30]);
    expect((await page(session)).nextCursor?.length).toBeLessThan(2048);
  });

  it.each([0, 257, 1.5, -1, Number.NaN])("refuses a limit of %d", async (limit) => {
    const { session } = await openSession();
    await expect(page(session, { limit })).rejects.toThrow("RPC message page limit must be between 1 and 256");
  });

  it("refuses a cursor that is none, and one whose conversation has moved on", async () => {
    const { session } = await openSession();
    told(session, "One", "Two", "Three");
    const { nextCursor = "" } = await page(session, { limit: 1 });
    for (const cursor of ["", "?", "MCAw", `${nextCursor}A`, "x".repeat(2049), nextCursor.slice(4)])
      await expect(page(session, { cursor }), cursor).rejects.toThrow("Invalid RPC message cursor");
    const stale = expect.objectContaining({ code: "stale_cursor", message: "RPC message cursor is stale" });
    told(session, "Four");
    await expect(page(session, { cursor: nextCursor })).rejects.toThrow(stale);
    const { nextCursor: fresh = "" } = await page(session, { limit: 1 });
    await session.newSession();
    told(session, "One", "Two", "Three", "Four");
    await expect(page(session, { cursor: fresh })).rejects.toThrow(stale);
  });

  it("is not cut from a conversation that is changing", async () => {
    const held = gate();
    const { session } = await openSession({ model: [[{ type: "start" }, held.wait, ...say("Hi").slice(1)]] });
    void session.prompt("Go");
    await held.reached;
    const busy = { code: "session_busy", message: "Cannot page messages while the session is changing" };
    await expect(page(session)).rejects.toThrow(expect.objectContaining(busy));
    held.open();
    await session.waitForIdle();
    expect((await page(session)).messages).toHaveLength(2);
  });
});
