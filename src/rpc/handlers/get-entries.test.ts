import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { randomIds } from "../../base/ids.js";
import { FrameReader } from "../../base/ndjson.js";
import type { RpcData } from "../../protocol/data.js";
import type { AgentSession } from "../../sdk/index.js";
import { openSession } from "../../testing/open-session.js";
import { say } from "../../testing/scripted-model.js";
import type { HandlerContext } from "../handler.js";
import { getEntries, getTree } from "./get-entries.js";

async function entries(session: AgentSession, since?: string): Promise<RpcData["get_entries"]> {
  const command = { type: "get_entries" as const, ...(since === undefined ? {} : { since }) };
  return getEntries({ session } as HandlerContext, command) as Promise<RpcData["get_entries"]>;
}

it("a host that comes back gets exactly what it missed, also from another process", async () => {
  const folder = temporaryDirectory();
  const stored = { persist: true, sessionDir: folder, agentDir: folder, ids: randomIds };
  const before = await openSession({ model: [say("First"), say("Second")], session: stored });
  await before.session.prompt("One");
  const { entries: copy } = await entries(before.session);
  expect(copy.at(-1)?.id).toBe((await entries(before.session)).leafId);
  await before.session.prompt("Two");
  const path = before.session.sessionFile ?? "";
  await before.session.dispose();

  const { session } = await openSession({
    model: [say("Third")],
    session: { ...stored, resume: { kind: "open", target: path } },
  });
  await session.prompt("Three");
  session.setSessionName("Named");
  const missed = await entries(session, copy.at(-1)?.id);
  const seen = [...copy, ...missed.entries];
  expect(seen.map(({ id }) => id)).toEqual(session.sessionManager.tree.entries.map(({ id }) => id));
  expect(missed.entries.map(({ type }) => type)).toEqual([...Array(4).fill("message"), "session_info"]);
  expect(missed.leafId).toBe(session.sessionManager.tree.leafId);
  expect((await entries(session, seen.at(-1)?.id)).entries).toEqual([]);
  await session.dispose();
});

it("an id that the session does not have is refused with a code", async () => {
  const { session } = await openSession();
  const refusal = { code: "unknown_since", message: "Unknown entries cursor: nope" };
  await expect(entries(session, "nope")).rejects.toThrow(expect.objectContaining(refusal));
  await expect(entries(session, "x".repeat(10_000))).rejects.toThrow(/^Unknown entries cursor: x{512}$/);
});

it("the tree of a conversation as long as you like can be read by any host", async () => {
  const { session } = await openSession();
  const message = { role: "user" as const, content: "Go", attribution: "user" as const, timestamp: 0 };
  for (let index = 0; index < 500; index++) session.sessionManager.appendMessage(message);
  const data = getTree({ session } as HandlerContext, { type: "get_tree" }) as RpcData["get_tree"];
  const line = JSON.stringify({ type: "response", command: "get_tree", success: true, data });
  expect(new FrameReader().push(Buffer.from(`${line}\n`))).toMatchObject([{ ok: true }]);
  const count = (nodes: typeof data.tree): number => nodes.reduce((sum, node) => sum + 1 + count(node.children), 0);
  expect(count(data.tree)).toBe(500);
  expect(data.leafId).toBe(session.sessionManager.tree.leafId);
});
