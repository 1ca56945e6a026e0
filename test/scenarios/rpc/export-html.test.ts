import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNodeWorkspace } from "../../../src/files/node-workspace.js";
import { problemsOf } from "../../../src/html/page.test-kit.js";
import type { HandlerContext } from "../../../src/rpc/handler.js";
import { handlers } from "../../../src/rpc/handlers.js";
import { openSession } from "../../../src/testing/open-session.js";
import { say } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

async function setUp({ persist = true } = {}) {
  const home = temporaryDirectory();
  const [cwd, agentDir] = [join(home, "project"), join(home, "agent")];
  mkdirSync(cwd);
  const workspace = createNodeWorkspace({ cwd, agentDir, home, tempDir: join(home, "tmp") });
  const { session } = await openSession({
    model: [say("Good <morning>.")],
    session: { persist, cwd, agentDir, workspace },
  });
  onTestFinished(() => session.dispose());
  const ask = async (outputPath?: string) =>
    handlers.get("export_html")?.({ session } as HandlerContext, {
      type: "export_html",
      ...(outputPath === undefined ? {} : { outputPath }),
    }) as Promise<{ path: string }>;
  return { cwd, session, ask };
}

describe("export_html", () => {
  it("writes a page of a live session, for its owner only, and answers its absolute path", async () => {
    const { cwd, session, ask } = await setUp();
    await session.prompt("hello");
    const { path } = await ask();
    expect(path).toBe(join(cwd, `galley-session-${basename(session.sessionFile ?? "", ".jsonl")}.html`));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const page = readFileSync(path, "utf8");
    expect(problemsOf(page)).toEqual([]);
    expect(page).toContain("Good &lt;morning&gt;.");
    expect(page).toContain("<summary>System prompt</summary>");
    expect(page).toContain("<dt>read</dt>");
    expect(readdirSync(cwd)).toEqual([basename(path)]);
  });

  it("writes where it is told, and replaces an earlier export only", async () => {
    const { cwd, session, ask } = await setUp();
    expect(await session.exportToHtml("out/page.html")).toBe(join(cwd, "out/page.html"));
    expect(await ask("out/page.html")).toEqual({ path: join(cwd, "out/page.html") });
    writeFileSync(join(cwd, "notes.md"), "mine");
    await expect(ask("notes.md")).rejects.toMatchObject({
      code: "file_refused",
      message: "notes.md exists and is not an earlier export; it is left as it is",
    });
    expect(readFileSync(join(cwd, "notes.md"), "utf8")).toBe("mine");
  });

  it("obeys the rules of the workspace", async () => {
    const { cwd, ask } = await setUp();
    await expect(ask("../out.html")).rejects.toThrow("lies outside of");
    await expect(ask(".git/out.html")).rejects.toThrow("is protected");
    await expect(ask("")).rejects.toThrow("Path must not be empty.");
    expect(readdirSync(cwd)).toEqual([]);
    expect(existsSync(join(cwd, "../out.html"))).toBe(false);
  });

  it("writes a page of a session in memory, under its id", async () => {
    const { cwd, session, ask } = await setUp({ persist: false });
    await session.prompt("hello");
    const { path } = await ask();
    expect(path).toBe(join(cwd, `galley-session-${session.sessionId}.html`));
    const page = readFileSync(path, "utf8");
    expect(problemsOf(page)).toEqual([]);
    expect(page).toContain("Good &lt;morning&gt;.");
    expect(readdirSync(cwd)).toEqual([basename(path)]);
  });
});
