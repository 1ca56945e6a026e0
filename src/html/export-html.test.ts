// What a page shows, and that it shows nothing else: whatever a session holds, the page is of our elements only (O-3,
// O-4). The same hostile sessions meet a real browser in test/process/html-export-browser.test.ts and bench/fault-html.mjs.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hostileSession } from "../../bench/kit-html/hostile.mjs";
import type { SessionEntry } from "../protocol/entries.js";
import {
  assistant,
  calls,
  chain,
  compaction,
  type Draft,
  modelChange,
  reply,
  result,
  said,
  usage,
  user,
} from "../record/entries.test-kit.js";
import { EntryTree } from "../record/entry-tree.js";
import { createMemoryBlobs } from "../record/store/blobs.js";
import { type ExportOptions, exportHtml } from "./export-html.js";
import { problemsOf, sourceOf } from "./page.test-kit.js";

const header = {
  type: "session" as const,
  version: 3,
  id: "0197aaaa",
  timestamp: "2026-01-05T08:00:00.000Z",
  cwd: "/work",
};

async function pageOf(entries: readonly SessionEntry[], options: ExportOptions = {}): Promise<string> {
  const page = await exportHtml({ header, tree: new EntryTree(header, entries), blobs: createMemoryBlobs() }, options);
  expect(problemsOf(page)).toEqual([]);
  return page;
}

const bodyOf = (page: string) => page.slice(page.indexOf("<main>"));
const bodyWith = async (...drafts: Draft[]) => bodyOf(await pageOf(chain(...drafts)));

describe("a hostile session", () => {
  it("O-3, O-4: becomes a page of the fixed elements and attributes, with every text escaped", async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const page = await exportHtml(sourceOf(hostileSession(seed)));
      expect(problemsOf(page), `seed ${seed}`).toEqual([]);
    }
  });

  it("would be noticed if anything of it got through", async () => {
    const page = await pageOf(chain(user("hello")));
    for (const [before, after] of [
      ["hello</pre>", "hello</pre><script>x</script>"],
      ["hello</pre>", "hello<img src=x></pre>"],
      ["hello</pre>", "a & b</pre>"],
      ["hello</pre>", "a > b</pre>"],
      ["hello</pre>", 'hello</pre><a href="javascript:x" rel="noopener noreferrer">x</a>'],
      ["hello</pre>", 'hello</pre><a href="https://a.example/">x</a>'],
      ["hello</pre>", 'hello</pre><p onclick="x">x</p>'],
      ["hello</pre>", 'hello</pre><img alt="image" src="data:image/svg+xml;base64,AA==">'],
      ["hello</pre>", "hello\u202e</pre>"],
      ["hello</pre>", "hello"],
      ["default-src 'none'", "default-src *"],
      ["</head>", "<base href=x></head>"],
    ] as const) {
      expect(page.split(before).length, before).toBe(2);
      expect(problemsOf(page.replace(before, after)), after).not.toEqual([]);
    }
  });
});

describe("the head", () => {
  it("O-3: begins with a policy that lets nothing in but this very style", async () => {
    const page = await pageOf([]);
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(page).toContain(
      `<head>\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'`,
    );
    expect(page.indexOf('<meta charset="utf-8">')).toBeLessThan(1024);
  });

  it("tells the session: name, id, time, directory, models, counts, tokens and cost of the whole file", async () => {
    const paid = assistant({ usage: { ...usage(1200, 34), cost: { ...usage(0).cost, total: 0.25 } } });
    const entries = chain(user("one"), said(paid), user("two"));
    const branched: SessionEntry = { ...entries[1]!, id: "b1", parentId: "e1" };
    const named = { type: "session_info", id: "n1", parentId: "e3", timestamp: "", name: "A <name>" } as const;
    const page = await pageOf([...entries, branched, { ...entries[2]!, id: "b2", parentId: "b1" }, named]);
    expect(page).toContain("<title>A &lt;name&gt;</title>");
    expect(page).toContain("<code>0197aaaa</code>");
    expect(page).toContain('<time datetime="2026-01-05T08:00:00.000Z">2026-01-05 08:00</time>');
    expect(page).toContain("<code>/work</code>");
    expect(page).toContain("<dt>Model</dt><dd>acme/fable-2</dd>");
    expect(page).toContain("2 from the user, 1 from the model, 0 tool calls");
    expect(page).toContain("↑ 2,400 · ↓ 68");
    expect(page).toContain("<dd>$0.5000</dd>");
    expect(page).toContain("2 entries of other branches are not part of this page.");
  });

  it("is named after the first thing the user said, or the id, and lists what was asked", async () => {
    const page = await pageOf(chain(user("Fix\nit"), user("Thanks")));
    expect(page).toContain("<title>Fix it</title>");
    expect(page).toContain('<li><a href="#e1">Fix it</a></li>\n<li><a href="#e2">Thanks</a></li>');
    expect(page).toContain('<span id="e2"></span>');
    expect(await pageOf([])).toContain("<title>0197aaaa</title>");
  });

  it("shows the system prompt and the tools of a live session only", async () => {
    const live = { systemPrompt: "You are <galley>.", tools: [{ name: "read", description: "Reads." }] };
    const page = await exportHtml({ header, tree: new EntryTree(header), blobs: createMemoryBlobs(), live });
    expect(problemsOf(page)).toEqual([]);
    expect(page).toContain('<summary>System prompt</summary><pre class="plain">You are &lt;galley&gt;.</pre>');
    expect(page).toContain('<dt>read</dt><dd><pre class="plain">Reads.</pre></dd>');
    expect(await pageOf([])).not.toContain("System prompt");
  });
});

describe("the conversation", () => {
  it("shows what the user typed as it was typed, and what the model wrote as Markdown", async () => {
    const body = await bodyWith(user("a *b*\n  c"), reply("a *b*"));
    expect(body).toContain('<pre class="plain">a *b*\n  c</pre>');
    expect(body).toContain('<div class="prose" dir="auto"><p>a <em>b</em></p></div>');
    expect(body).toContain("<h2>Assistant");
  });

  it("folds thinking away, and says what the provider hides", async () => {
    const content = [
      { type: "thinking" as const, thinking: "Hm." },
      { type: "redactedThinking" as const, data: "xyz" },
    ];
    const body = await bodyWith(said(assistant({ content })));
    expect(body).toContain(
      '<details class="thinking"><summary>Thinking</summary><div class="prose" dir="auto"><p>Hm.</p>',
    );
    expect(body).toContain("Thinking that the provider keeps hidden");
    expect(body).not.toContain("xyz");
  });

  it("puts a result with its call, and shows one without a call by itself", async () => {
    const body = await bodyWith(
      calls(
        { id: "1", name: "grep", args: { pattern: "a<b", deep: { x: [1] }, text: "l1\nl2" } },
        { id: "2", name: "ls" },
      ),
      result("1", "found"),
      result("9", "stray"),
      reply("done"),
    );
    expect(body).toContain("<summary><b>grep</b> <code>a&lt;b</code></summary>");
    expect(body).toContain('<dt>text</dt><dd><pre class="plain">l1\nl2</pre></dd>');
    expect(body).toMatch(
      /<div class="output"><pre class="plain">found<\/pre><\/div><\/details>\n<details class="tool">/,
    );
    expect(body).toContain('<b>ls</b>  <span class="mark">no result</span>');
    expect(body).toContain("<b>grep</b> result</summary>");
    expect(body.match(/found/g)).toHaveLength(1);
    expect(body.match(/<h2>/g)).toHaveLength(1); // one heading for replies in a row
  });

  it("gives each of two calls with one id its own result", async () => {
    const call = calls({ id: "1", name: "ls", args: {} });
    const body = await bodyWith(
      structuredClone(call),
      result("1", "first"),
      structuredClone(call),
      result("1", "second"),
    );
    expect(body.match(/<details/g)).toHaveLength(2);
    expect(body).toMatch(/first[\s\S]*<details[\s\S]*second/);
    expect(body).not.toContain("no result");
  });

  it("colours a diff and opens it, and opens what failed", async () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-<old>\n+new\n+more\n same\n";
    const body = await bodyWith(
      calls({ id: "1", name: "edit" }, { id: "2", name: "bash" }),
      result("1", "ok", { details: { diff } }),
      result("2", "no", { isError: true }),
    );
    expect(body).toContain('<details class="tool" open><summary><b>edit</b>');
    expect(body).toContain(
      '<pre class="diff"><span class="file">--- a/x\n+++ b/x\n</span><span class="hunk">@@ -1 +1,2 @@\n</span><span class="del">-&lt;old&gt;\n</span><span class="add">+new\n+more\n</span><span class="same"> same\n</span></pre>',
    );
    expect(body).toContain(
      '<details class="tool error" open><summary><b>bash</b>  <span class="mark bad">failed</span>',
    );
  });

  it("tells how a reply ended, when it did not end well", async () => {
    expect(await bodyWith(said(assistant({ stopReason: "error", errorMessage: "<down>" })))).toContain(
      '<p class="problem">&lt;down&gt;</p>',
    );
    expect(await bodyWith(said(assistant({ stopReason: "aborted" })))).toContain("Stopped before the end.");
    expect(await bodyWith(said(assistant({ stopReason: "length" })))).toContain("Cut off at the length limit.");
  });

  it("shows commands, files, summaries, changes of model and custom messages that are for people", async () => {
    const body = await bodyWith(
      modelChange,
      { type: "thinking_level_change", thinkingLevel: "high" },
      said({
        role: "bashExecution",
        command: "ls",
        output: "a\nb",
        exitCode: 2,
        cancelled: false,
        truncated: true,
        timestamp: 1,
      }),
      said({ role: "fileMention", files: [{ path: "a.ts", content: "let a" }], timestamp: 1 }),
      { type: "custom_message", customType: "note", content: "seen", display: true },
      { type: "custom_message", customType: "note", content: "unseen", display: false },
      { type: "branch_summary", fromId: "root", summary: "*left*" },
      compaction("e1", { summary: "## Goal" }),
    );
    expect(body).toContain("Model: acme/fable-2");
    expect(body).toContain("Thinking: high");
    expect(body).toContain(
      '<pre class="command">$ ls</pre><pre class="plain">a\nb</pre><p class="note">exit code 2 · output shortened</p>',
    );
    expect(body).toContain("File <code>a.ts</code></summary>");
    expect(body).toContain("<h2>note ");
    expect(body).not.toContain("unseen");
    expect(body).toContain("Summary of another branch");
    expect(body).toContain("<em>left</em>");
    expect(body).toContain("summarized here</summary>");
  });

  it("keeps what stands before a compaction, and leaves other branches out", async () => {
    const entries = chain(user("early"), compaction("e1"), user("late"));
    const other: SessionEntry = { ...entries[2]!, id: "x", parentId: "e1" };
    const back: SessionEntry = { type: "leaf", id: "l", parentId: null, timestamp: "", targetId: "e3" };
    const body = bodyOf(
      await pageOf([...entries, { ...other, ...chain(user("elsewhere"))[0], id: "x", parentId: "e1" }, back]),
    );
    expect(body).toContain("early");
    expect(body).toContain("late");
    expect(body).not.toContain("elsewhere");
  });

  it("shows labels", async () => {
    const label: SessionEntry = {
      type: "label",
      id: "l",
      parentId: "e1",
      timestamp: "",
      targetId: "e1",
      label: "<start>",
    };
    expect(await pageOf([...chain(user("a")), label])).toContain('<p class="label">&lt;start&gt;</p>');
  });
});

describe("what is left out", () => {
  const entries = chain(
    user("the key is sk-1"),
    said(assistant({ content: [{ type: "thinking", thinking: "private sk-1" }] })),
    calls({ id: "1", name: "bash", args: { command: "echo sk-1" } }),
    result("1", "output sk-1", { details: { diff: "+changed" } }),
    reply("It is `sk-1`."),
  );

  it("is thinking and tool output, when they are not wanted", async () => {
    const page = await pageOf(entries, { includeThinking: false, includeToolOutput: false });
    for (const hidden of ["private", "output sk-1", "changed"]) expect(page).not.toContain(hidden);
    expect(page).toContain("The output is left out of this page.");
  });

  it("is every known secret, wherever it stands", async () => {
    const page = await pageOf(entries, { redact: (text) => text.replaceAll("sk-1", "[secret:key]") });
    expect(page).not.toContain("sk-1");
    expect(page.match(/\[secret:key\]/g)?.length).toBeGreaterThan(5);
  });
});

describe("what a page costs", () => {
  it("is proportional to the session, and does not block other work", async () => {
    const entries = chain(
      ...Array.from({ length: 200 }, (_, index) => reply(`## Part ${index}\n\n${"Some *words*. ".repeat(200)}`)),
    );
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const page = await pageOf(entries);
    isDone = true;
    expect(turns).toBeGreaterThan(0);
    expect(page.length).toBeLessThan(JSON.stringify(entries).length * 4);
  });

  it("is bounded for arguments that would be mostly indentation", async () => {
    let deep: unknown = Array.from({ length: 2000 }, () => 1);
    for (let level = 0; level < 60; level++) deep = [deep];
    const page = await pageOf(chain(calls({ id: "1", args: { deep } })));
    expect(page.length).toBeLessThan(40_000);
  });
});
