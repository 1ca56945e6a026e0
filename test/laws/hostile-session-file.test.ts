// A session file is untrusted input: whatever stands in its fields, it opens, is counted, is drawn as a tree, and
// goes to a model.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostileSession } from "../../bench/kit-html/hostile.mjs";
import { openRecord } from "../../src/record/open-record.js";
import { sessionStats } from "../../src/record/session-stats.js";
import { linesOf } from "../../src/record/store/store.test-kit.js";
import { contextUsage } from "../../src/session/context-usage.js";
import { ModelMessages } from "../../src/session/model-messages.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

/** No template and no `String()` takes it. */
const noText = { toString: 1 };

async function useFile(text: string) {
  const home = temporaryDirectory();
  const path = join(home, "x.jsonl");
  writeFileSync(path, text, { mode: 0o600 });
  const record = await openRecord(path, { cwd: home, agentDir: join(home, "agent"), home });
  try {
    const { tree, context, sessionId } = record;
    const stats = sessionStats({ sessionId, entries: tree.entries, messages: context.messages });
    contextUsage(tree.pathTo(), 200_000);
    const sent = new ModelMessages().of(context);
    return { record, stats, sent, nodes: tree.tree() };
  } finally {
    await record.close();
  }
}

const header = { type: "session", version: 3, id: "x", timestamp: "2026-01-05T08:00:00.000Z", cwd: "/" };
const entry = (id: string, parentId: string | null, fields: object) => ({
  ...{ type: "message", id, parentId, timestamp: "2026-01-05T08:00:01.000Z" },
  ...fields,
});
const hello = { role: "user", content: "hello" };
const paid = { role: "assistant", content: "hi", usage: { input: 7, cost: { total: 0.5 } } };

describe("a hostile session file", () => {
  it("opens, whatever its fields hold", async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { stats } = await useFile(hostileSession(seed)).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      expect(stats.cost, `seed ${seed}`).toBeGreaterThanOrEqual(0);
    }
  });

  it("counts a time that is no text as unknown", async () => {
    const { record, nodes } = await useFile(
      linesOf(header, entry("a", null, { timestamp: noText }), entry("b", null, { message: hello, timestamp: noText })),
    );
    expect(record.context.messages).toEqual([{ ...hello, timestamp: 0 }]);
    expect(nodes.map((node) => node.entry.id)).toEqual(["a", "b"]);
  });

  it("was paid for, whichever model it names", async () => {
    const message = { ...paid, provider: noText, model: noText };
    const { stats } = await useFile(linesOf(header, entry("a", null, { message })));
    expect(stats).toMatchObject({ cost: 0.5, byModel: { unknown: { tokens: { input: 7 }, cost: 0.5 } } });
  });

  it("may hold a version, a compaction and an exit code that are no text", async () => {
    const { record, sent } = await useFile(
      linesOf(
        { ...header, version: noText },
        entry("a", null, { type: "compaction", summary: "s", firstKeptEntryId: noText }),
        entry("b", "a", { message: { role: "bashExecution", command: "ls", output: "", exitCode: noText } }),
      ),
    );
    expect(record.readOnly?.text).toContain("is newer than supported");
    expect(sent.at(-1)).toMatchObject({ content: "Ran `ls`\n(no output)" });
  });
});
