// Hooks that reach into a session's own work: what a model call is told, where the tree is gone to, how a summary comes
// about, and programs that are asked about tool calls.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { Settings } from "../../../src/config/settings/settings.js";
import type { ExtensionAPI } from "../../../src/extensions/api/extension.js";
import type { AgentSession } from "../../../src/session/agent-session.js";
import type { ExtensionReport } from "../../../src/session/session-extensions.js";
import { call, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const open = (model: readonly ScriptStep[], ...extensions: ((pi: ExtensionAPI) => void)[]) => {
  const settings = new Settings();
  settings.override("compaction.keepRecentTokens", 20);
  return home.open(model, { extensions, settings }, { "a.txt": "hello\n" });
};

const reportsOf = (session: AgentSession) => {
  const reports: ExtensionReport[] = [];
  session.onReport((report) => void reports.push(report));
  return reports;
};

const idsOf = (session: AgentSession) => session.sessionManager.tree.pathTo().map(({ id }) => id);
const lastEntry = (session: AgentSession) => session.sessionManager.tree.pathTo().at(-1);

describe("context", () => {
  it("is asked before every model call, one after the other, and never kept", async () => {
    const seen: string[][] = [];
    const { session, model } = await open(
      [call("read", { path: "a.txt" }), say("Done.")],
      (pi) =>
        pi.on("context", ({ messages }) => {
          seen.push(messages.map(({ role }) => role));
          const first = messages[0] as { content: unknown };
          first.content = "changed in place"; // a copy: nobody sees it
          return { messages: [...messages, { role: "user", content: "Be brief.", timestamp: 1 }] };
        }),
      (pi) =>
        pi.on("context", ({ messages }) => {
          const [first, ...rest] = messages;
          return { messages: [{ ...first, content: "Go now" } as never, ...rest] };
        }),
    );
    await session.prompt("Go");
    expect(seen).toEqual([["user"], ["user", "assistant", "toolResult"]]);
    const told = model.requests.map(({ context }) => context.messages.map((message) => message.content));
    expect(told[0]).toEqual(["Go now", "Be brief."]);
    expect(told[1]).toMatchObject(["Go now", [{ type: "toolCall" }], [{ type: "text" }], "Be brief."]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(JSON.stringify(session.messages)).not.toMatch(/Be brief|Go now|in place/);
    await session.dispose();
  });

  it("that fails changes nothing and is reported", async () => {
    const { session, model } = await open([say("Done.")], (pi) => {
      pi.on("context", () => {
        throw new Error("lost");
      });
      pi.on("context", () => ({ messages: "all" }) as never);
    });
    const reports = reportsOf(session);
    await session.prompt("Go");
    expect(model.requests[0]?.context.messages).toMatchObject([{ role: "user", content: [{ text: "Go" }] }]);
    expect(reports).toMatchObject([{ error: "lost" }, { event: "context" }]);
    await session.dispose();
  });

  it("does not hold up an abort", async () => {
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const { session, model } = await open([], (pi) => {
      pi.on("context", () => {
        isAsked();
        return new Promise(() => {});
      });
    });
    const prompted = session.prompt("Go");
    await asked;
    await session.abort();
    await prompted;
    expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
    expect(model.requests).toHaveLength(0);
    await session.dispose();
  });
});

describe("the tree", () => {
  const twice = [say("One."), say("Two.")];

  it("session_before_tree sees where it goes and can prevent it", async () => {
    const seen: unknown[] = [];
    const { session } = await open(twice, (pi) => {
      pi.on("session_before_tree", ({ preparation, signal }) => {
        seen.push({ ...preparation, entriesToSummarize: preparation.entriesToSummarize.length, signal });
        return { cancel: true };
      });
      pi.on("session_tree", () => void seen.push("went"));
    });
    await session.prompt("a");
    const leaf = session.sessionManager.tree.leafId;
    await session.prompt("b");
    const before = idsOf(session);
    expect(await session.navigateTree(leaf ?? "", { summarize: true })).toEqual({ cancelled: true });
    expect(idsOf(session)).toEqual(before);
    expect(seen).toEqual([
      {
        targetId: leaf,
        oldLeafId: before.at(-1),
        entriesToSummarize: 2,
        userWantsSummary: true,
        signal: expect.any(AbortSignal),
      },
    ]);
    await expect(session.navigateTree("nope")).rejects.toThrow("Entry nope not found");
    await session.dispose();
  });

  it("takes an extension's notes where notes are wanted, and tells session_tree and onSession", async () => {
    home.put(
      ".galley/agent/tools/ears.ts",
      `globalThis.treeHeard = [];
      export default (pi) => ({ name: "ears", description: "Listens", parameters: { type: "object", properties: {} },
        execute: async () => ({ content: [] }), onSession(event) { globalThis.treeHeard.push(event.reason); } });`,
    );
    const told: unknown[] = [];
    const { session, model } = await open(twice, (pi) => {
      pi.on("session_before_tree", () => ({ summary: { summary: "We tried b.", details: { n: 1 } } }));
      pi.on("session_tree", ({ type: _type, ...event }) => void told.push(event));
    });
    await session.prompt("a");
    const leaf = session.sessionManager.tree.leafId ?? "";
    await session.prompt("b");
    const oldLeafId = session.sessionManager.tree.leafId;
    const went = await session.navigateTree(leaf, { summarize: true });
    const note = { type: "branch_summary", summary: "We tried b.", details: { n: 1 }, fromExtension: true };
    expect(went).toMatchObject({ cancelled: false, summaryEntry: note });
    expect(lastEntry(session)).toMatchObject(note);
    expect(told).toMatchObject([{ newLeafId: lastEntry(session)?.id, oldLeafId, summaryEntry: note }]);
    // Nobody asked for notes: none are taken.
    await session.navigateTree(leaf, { summarize: false });
    expect(lastEntry(session)?.id).toBe(leaf);
    expect(told[1]).not.toHaveProperty("summaryEntry");
    expect(model.requests).toHaveLength(2);
    expect((globalThis as { treeHeard?: string[] }).treeHeard).toEqual(["start", "tree", "tree"]);
    await session.dispose();
  });

  it("an abort ends the question", async () => {
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let given: AbortSignal | undefined;
    const { session } = await open([say("One.")], (pi) => {
      pi.on("session_before_tree", ({ signal }) => {
        given = signal;
        isAsked();
        return new Promise(() => {});
      });
    });
    await session.prompt("a");
    const going = session.navigateTree(idsOf(session)[0] ?? "");
    await asked;
    session.abortCompaction();
    expect(await going).toEqual({ cancelled: true, aborted: true });
    expect(given?.aborted).toBe(true);
    await session.dispose();
  });
});

describe("compaction", () => {
  const long = "word ".repeat(40);
  const talk = [say(`One ${long}`), say(`Two ${long}`)];
  const talked = async (model: readonly ScriptStep[], ...extensions: ((pi: ExtensionAPI) => void)[]) => {
    const opened = await open([...talk, ...model], ...extensions);
    await opened.session.prompt(`a ${long}`);
    await opened.session.prompt(`b ${long}`);
    return opened;
  };

  it("session_before_compact sees what is about to happen and can prevent it", async () => {
    const seen: unknown[] = [];
    const { session } = await talked([], (pi) => {
      pi.on("session_before_compact", ({ preparation, branchEntries, customInstructions, signal }) => {
        const { messagesToSummarize, turnPrefixMessages, settings, ...rest } = preparation;
        const texts = [...messagesToSummarize, ...turnPrefixMessages].map(({ role }) => role);
        seen.push({ ...rest, texts, entries: branchEntries.length, customInstructions, signal, settings });
        return { cancel: true };
      });
    });
    const entries = idsOf(session);
    await expect(session.compact("names")).rejects.toThrow("Compaction cancelled");
    expect(idsOf(session)).toEqual(entries);
    expect(seen).toEqual([
      {
        firstKeptEntryId: entries.at(-1),
        tokensBefore: expect.any(Number),
        isSplitTurn: true,
        texts: ["user", "assistant", "user"],
        entries: entries.length,
        customInstructions: "names",
        signal: expect.any(AbortSignal),
        settings: { enabled: true, reserveTokens: expect.any(Number), keepRecentTokens: 20 },
      },
    ]);
    await session.dispose();
  });

  it("is written by an extension: the last result counts, no model is asked, everybody is told", async () => {
    const told: unknown[] = [];
    const { session, model } = await talked(
      [],
      (pi) => {
        pi.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) => ({
          compaction: { summary: "First.", firstKeptEntryId, tokensBefore },
        }));
        pi.on(
          "session_compact",
          ({ compactionEntry, fromExtension }) => void told.push([compactionEntry.summary, fromExtension]),
        );
      },
      (pi) =>
        pi.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
          compaction: {
            summary: "Second.",
            shortSummary: "2",
            firstKeptEntryId,
            tokensBefore: 7,
            details: { by: "me" },
          },
        })),
    );
    const result = await session.compact();
    const members = {
      summary: "Second.",
      shortSummary: "2",
      tokensBefore: 7,
      details: { by: "me" },
      fromExtension: true,
    };
    expect(result).toMatchObject(members);
    expect(lastEntry(session)).toMatchObject({ type: "compaction", ...members });
    expect(session.messages[0]).toMatchObject({ role: "compactionSummary", summary: "Second." });
    expect(told).toEqual([["Second.", true]]);
    expect(model.requests).toHaveLength(2);
    await session.dispose();
  });

  it.each([
    ["an entry that is not there", "nope", /cannot be cut/],
    ["an empty summary", undefined, /summary is empty/],
  ])("of an extension has to fit: %s", async (_name, kept, problem) => {
    const { session } = await talked([], (pi) =>
      pi.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) => ({
        compaction: { summary: kept ? "x" : " ", firstKeptEntryId: kept ?? firstKeptEntryId, tokensBefore },
      })),
    );
    const entries = idsOf(session);
    await expect(session.compact()).rejects.toThrow(problem);
    expect(idsOf(session)).toEqual(entries);
    await session.dispose();
  });

  it("session.compacting says what the summary is to mind, what it is asked with and what is kept", async () => {
    const told: unknown[] = [];
    const { session, model } = await talked([say("Notes."), say("Head.")], (pi) => {
      pi.on("session.compacting", ({ sessionId, messages }) => {
        told.push([sessionId === session.sessionId, messages.map(({ role }) => role)]);
        return { context: ["dropped"], prompt: "dropped" };
      });
      pi.on("session.compacting", () => ({
        context: ["The user reads French.", "And Latin."],
        prompt: "In French, please.",
        preserveData: { seen: true },
      }));
      pi.on("session_compact", ({ fromExtension }) => void told.push(fromExtension));
    });
    const result = await session.compact("names");
    expect(result).toMatchObject({ summary: expect.stringContaining("Notes."), preserveData: { seen: true } });
    expect(result).not.toHaveProperty("fromExtension");
    expect(lastEntry(session)).toMatchObject({ type: "compaction", preserveData: { seen: true } });
    const asked = String(model.requests[2]?.context.messages[0]?.content);
    expect(asked).toContain("<additional-context>\nThe user reads French.\n\nAnd Latin.\n</additional-context>");
    expect(asked).toContain("In French, please.");
    expect(asked).toContain("Additional focus: names");
    expect(asked).not.toMatch(/dropped|## Goal/);
    expect(told).toEqual([[true, ["user", "assistant", "user"]], false]);
    await session.dispose();
  });

  it("hooks that fail leave it as it would have been", async () => {
    const { session } = await talked([say("Notes."), say("Head.")], (pi) => {
      for (const name of ["session_before_compact", "session.compacting", "session_compact"] as const)
        pi.on(name as string, () => {
          throw new Error("no");
        });
    });
    const reports = reportsOf(session);
    expect(await session.compact()).toMatchObject({ summary: expect.stringContaining("Notes.") });
    expect(reports.map((report) => "event" in report && report.event)).toEqual([
      "session_before_compact",
      "session.compacting",
      "session_compact",
    ]);
    await session.dispose();
  });

  it("that is automatic tells a veto as aborted", async () => {
    const settings = new Settings();
    settings.override("compaction.keepRecentTokens", 20);
    settings.override("compaction.thresholdTokens", 100);
    const { session, events } = await home.open([...talk, say("Three.")], {
      settings,
      extensions: [(pi) => pi.on("session_before_compact", () => ({ cancel: true }))],
    });
    await session.prompt(`a ${long}`);
    await session.prompt(`b ${long}`);
    expect(events.filter(({ type }) => type === "auto_compaction_end")).toContainEqual(
      expect.objectContaining({ aborted: true, willRetry: false }),
    );
    expect(session.messages.some(({ role }) => role === "compactionSummary")).toBe(false);
    await session.dispose();
  });
});

describe("hook programs", () => {
  const script = (text: string) => `#!/bin/sh\n${text}\n`;
  const putHook = (path: string, text: string, mode = 0o755) => home.put(path, script(text), mode);
  const read = call("read", { path: "a.txt" });
  const files = { "a.txt": "hello\n", "b.txt": "other\n" };

  it("are told of the call as JSON, before and after it", async () => {
    const notes = join(home.base, "notes");
    putHook(".galley/agent/hooks/pre/look.sh", `cat >> ${notes}; echo >> ${notes}`);
    putHook(".galley/agent/hooks/post/look.sh", `cat >> ${notes}; echo >> ${notes}`);
    const { session, texts } = await home.open([read, say("Done.")], {}, files);
    await session.prompt("Go");
    const told = readFileSync(notes, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const call = { toolName: "read", toolCallId: "call_1", input: { path: "a.txt" } };
    expect(told).toEqual([
      { event: "tool_call", ...call },
      {
        event: "tool_result",
        ...call,
        result: expect.objectContaining({ isError: false, content: expect.any(Array) }),
      },
    ]);
    expect(texts()[0]).toContain("hello");
    await session.dispose();
  });

  it("block with exit code 2 and the words on stderr, revise, and patch the result", async () => {
    putHook(
      ".galley/agent/hooks/pre/10-guard.sh",
      `case "$(cat)" in *b.txt*) echo "Not b." >&2; exit 2;; *c.txt*) echo '{"input":{"path":"a.txt"}}';; esac`,
    );
    putHook(
      ".galley/agent/hooks/post/patch.sh",
      `echo '{"content":[{"type":"text","text":"patched"}],"isError":true}'`,
    );
    const again = (path: string, id: string) => call("read", { path }, id);
    const script = [again("b.txt", "1"), again("c.txt", "2"), say("Done.")];
    const { session, texts } = await home.open(script, {}, files);
    await session.prompt("Go");
    expect(texts()).toEqual(["Not b.", "patched"]);
    expect(session.messages.filter(({ role }) => role === "toolResult")).toMatchObject([
      { isError: true },
      { isError: true },
    ]);
    await session.dispose();
  });

  it.each([
    ["that fails", "echo broken >&2; exit 1", 0o755, /it ended with code 1: broken/],
    ["that cannot be started", "", 0o644, /ended with code 126/],
    ["that prints no JSON", "echo hello", 0o755, /its output is not JSON/],
    ["that prints without end", "head -c 2000000 /dev/zero", 0o755, /more than 1 MiB/],
  ])("before a call, one %s lets nothing pass", async (_name, text, mode, problem) => {
    putHook(".galley/agent/hooks/pre/x.sh", text, mode);
    const { session, texts } = await home.open([read, say("Done.")], {}, files);
    const reports = reportsOf(session);
    await session.prompt("Go");
    expect(texts()[0]).toMatch(problem);
    expect(reports).toMatchObject([{ event: "tool_call", error: expect.stringMatching(problem) }]);
    await session.dispose();
  });

  it("of a project are started only when it is trusted, and only as they were", async () => {
    const marker = join(home.base, "ran");
    putHook("project/.galley/hooks/pre/own.sh", `touch ${marker}`);
    const untrusted = await home.open([read, say("Done.")], {}, files);
    await untrusted.session.prompt("Go");
    expect(existsSync(marker)).toBe(false);
    expect(untrusted.lines.join("")).toContain("1 hook of this project is not trusted: galley trust");
    await untrusted.session.dispose();

    const { session, texts } = await home.open([read, read, say("Done.")], { trustProject: true }, files);
    await session.prompt("Go");
    expect(existsSync(marker)).toBe(true);
    await session.dispose();
    expect(texts()).toHaveLength(2);

    const changed = await home.open([read, say("Done.")], { trustProject: true }, files);
    putHook("project/.galley/hooks/pre/own.sh", `touch ${marker} # more`);
    await changed.session.prompt("Go");
    expect(changed.texts()[0]).toMatch(/has changed since it was checked/);
    await changed.session.dispose();
  });

  it("are stopped with the run", async () => {
    const pid = join(home.base, "pid");
    putHook(".galley/agent/hooks/pre/slow.sh", `echo $$ > ${pid}.new; mv ${pid}.new ${pid}; sleep 60`);
    // To stop a program takes real time, and a clock that stands still never gives it.
    const { session, lines, texts } = await home.open([read], { clock: systemClock }, files);
    const started = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (!existsSync(pid)) return;
        clearInterval(look);
        resolve();
      }, 5);
    });
    const prompted = session.prompt("Go");
    await Promise.race([started, prompted]);
    expect({ isStarted: existsSync(pid), lines, texts: texts() }).toEqual({ isStarted: true, lines: [], texts: [] });
    await session.abort();
    await prompted;
    await session.dispose();
    expect(() => process.kill(Number(readFileSync(pid, "utf8")), 0)).toThrow(/ESRCH/);
  });
});
