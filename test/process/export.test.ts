// `galley --export` of the real program: pages, exit codes, and what it leaves alone. And `export_html` beside it, with
// images that a session keeps elsewhere.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RpcClient } from "../../src/client/index.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
beforeAll(ensureBuilt, 150_000);
afterAll(remove);

let cwd: string;
let runs = 0;
beforeEach(() => {
  cwd = join(home, `run-${runs++}`);
  mkdirSync(cwd);
  cpSync(join(projectRoot, "test/fixtures/sessions/pi-version-3.jsonl"), join(cwd, "talk.jsonl"));
});

const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });
const textOf = (name: string) => readFileSync(join(cwd, name), "utf8");
const exported = (path: string) => ({ code: 0, stdout: `Exported to: ${path}\n`, stderr: "" });

describe("galley --export", () => {
  it("writes a page beside where it stands, tells its path, and changes nothing else", async () => {
    const before = textOf("talk.jsonl");
    expect(await galley("--export", "talk.jsonl")).toEqual(exported(join(cwd, "galley-session-talk.html")));
    const page = textOf("galley-session-talk.html");
    expect(page).toMatch(/^<!doctype html>\n/);
    expect(page).toMatch(/<\/html>\n$/);
    expect(page).not.toContain("System prompt"); // a file does not tell
    expect(statSync(join(cwd, "galley-session-talk.html")).mode & 0o777).toBe(0o600);
    expect(textOf("talk.jsonl")).toBe(before);
    expect(readdirSync(cwd)).toEqual(["galley-session-talk.html", "talk.jsonl"]);
    expect(existsSync(join(home, ".galley"))).toBe(false);
  });

  it("writes where it is told, also again, with paths that are those of --cwd", async () => {
    const path = join(cwd, "out/page.html");
    expect(await galley("--export", "talk.jsonl", "out/page.html")).toEqual(exported(path));
    const elsewhere = await run(
      process.execPath,
      [galleyBin, "--cwd", cwd, "--export=talk.jsonl", "--", "out/page.html"],
      { env, cwd: home },
    );
    expect(elsewhere).toEqual(exported(path));
  });

  it("tells what is wrong with a file on stderr, and shows the rest", async () => {
    const lines = textOf("talk.jsonl").split("\n");
    writeFileSync(join(cwd, "torn.jsonl"), [lines[0], "{nonsense", ...lines.slice(1)].join("\n"));
    const { code, stdout, stderr } = await galley("--export", "torn.jsonl");
    expect([code, stdout]).toEqual([0, `Exported to: ${join(cwd, "galley-session-torn.html")}\n`]);
    expect(stderr).toMatch(/^galley: .*torn\.jsonl.*line/);
  });

  it("finds a session by its id or the beginning of one, also one of another directory and of --session-dir", async () => {
    const listed = async (...args: string[]) => {
      const { stdout } = await galley("sessions", "list", "--json", ...args);
      return (JSON.parse(stdout) as { sessions: { id: string; path: string }[] }).sessions;
    };
    await galley("-p", "help", "--session-dir", "kept");
    const [kept] = await listed("--session-dir", "kept");
    await galley("-p", "help");
    const [own] = await listed();
    if (!kept || !own) throw new Error("There are no sessions");
    const nameOf = (path: string) => `galley-session-${basename(path, ".jsonl")}.html`;
    expect(await galley("--export", own.id)).toEqual(exported(join(cwd, nameOf(own.path))));
    expect(textOf(nameOf(own.path))).toContain("help");
    const elsewhere = join(cwd, "elsewhere");
    mkdirSync(elsewhere);
    expect(
      await run(process.execPath, [galleyBin, "--export", own.id.slice(0, -2), "out.html"], { env, cwd: elsewhere }),
    ).toEqual(exported(join(elsewhere, "out.html")));
    expect(await galley("--session-dir", "kept", "--export", kept.id, "kept.html")).toEqual(
      exported(join(cwd, "kept.html")),
    );
    expect(await galley("--export", "0-unknown")).toEqual({
      code: 1,
      stdout: "",
      stderr: 'Session "0-unknown" not found.\n',
    });
    const { code, stderr } = await galley("--export", own.id.slice(0, 2), "--session-dir", "kept");
    expect([code, stderr.includes("is ambiguous")]).toEqual([1, true]);
  });

  it("leaves a file alone that is no earlier export, the session itself included: 3", async () => {
    writeFileSync(join(cwd, "notes.html"), "<p>mine</p>");
    mkdirSync(join(cwd, "folder"));
    const before = textOf("talk.jsonl");
    for (const [name, text] of [
      ["notes.html", "exists and is not an earlier export; it is left as it is"],
      ["talk.jsonl", "exists and is not an earlier export; it is left as it is"],
      ["folder", "it is not a file"],
      ["notes.html/page.html", "ENOTDIR: not a directory"],
    ] as const) {
      const { code, stdout, stderr } = await galley("--export", "talk.jsonl", name);
      expect([code, stdout], name).toEqual([3, ""]);
      expect(stderr, name).toContain(text);
      expect(stderr.trimEnd()).not.toContain("\n"); // a sentence, no stack
    }
    expect(textOf("notes.html")).toBe("<p>mine</p>");
    expect(textOf("talk.jsonl")).toBe(before);
    expect(readdirSync(cwd)).toEqual(["folder", "notes.html", "talk.jsonl"]);
  });

  it("refuses what is not there and what is no session, and makes neither: 1", async () => {
    writeFileSync(join(cwd, "empty.jsonl"), "");
    writeFileSync(join(cwd, "other.jsonl"), '{"type":"something"}\n');
    mkdirSync(join(cwd, "folder.jsonl"));
    const before = readdirSync(cwd);
    for (const [name, text] of [
      ["missing.jsonl", "File not found"],
      ["missing/talk.jsonl", "File not found"],
      ["empty.jsonl", "Not a session file"],
      ["other.jsonl", "Not a session file"],
      ["folder.jsonl", "Not a session file"],
      ["", "Not a session file"],
    ] as const)
      expect(await galley("--export", name), name).toEqual({
        code: 1,
        stdout: "",
        stderr: `${text}: ${join(cwd, name)}\n`,
      });
    expect(readdirSync(cwd)).toEqual(before);
    expect(readFileSync(join(cwd, "empty.jsonl"), "utf8")).toBe("");
  });

  it.each([
    [["--export"], "--export needs a value (FILE|ID [OUT])."],
    [["--export", "talk.jsonl", "a.html", "b.html"], "--export takes one session and one path to write to."],
    [["--export", "talk.jsonl", "--mode", "xml"], '--mode must be text, json or rpc, not "xml".'],
  ])("%j is wrong usage: 2", async (args, text) => {
    expect(await galley(...args)).toEqual({ code: 2, stdout: "", stderr: `${text}\n` });
    expect(readdirSync(cwd)).toEqual(["talk.jsonl"]);
  });

  it("takes back a half-written page when it is stopped: 143", async () => {
    const [header = ""] = textOf("talk.jsonl").split("\n");
    const content = [{ type: "text", text: "# a\n\n* **b** `c`\n\n".repeat(100) }];
    const lines = Array.from({ length: 4000 }, (_, index) => {
      const place = { id: `e${index}`, parentId: index === 0 ? null : `e${index - 1}`, timestamp: "" };
      return JSON.stringify({ type: "message", ...place, message: { role: "assistant", content } });
    });
    writeFileSync(join(cwd, "long.jsonl"), `${[header, ...lines].join("\n")}\n`);
    const child = spawn(process.execPath, [galleyBin, "--export", "long.jsonl"], { cwd, env, stdio: "ignore" });
    const exit = once(child, "exit");
    const hasDraft = () => readdirSync(cwd).some((name) => name.startsWith(".galley-export."));
    while (!hasDraft() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill("SIGTERM");
    expect(await exit).toEqual([143, null]);
    expect(readdirSync(cwd)).toEqual(["long.jsonl", "talk.jsonl"]);
  });
});

it("export_html and --export show the images of a session, wherever it keeps them", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const data = Buffer.concat([Buffer.from(pixel, "base64"), Buffer.alloc(2000, 7)]).toString("base64");
  const client = new RpcClient({ command: [process.execPath, galleyBin], cwd, env });
  await client.start();
  try {
    await client.request("prompt", { message: "help", images: [{ type: "image", data, mimeType: "image/png" }] });
    const { sessionFile = "" } = await client.request("get_state", {});
    const { path } = await client.request("export_html", { outputPath: "live.html" });
    expect(path).toBe(join(cwd, "live.html"));
    expect(readFileSync(sessionFile, "utf8")).toContain("blob:sha256:"); // so that it is not simply in the file
    expect((await galley("--export", sessionFile, "file.html")).code).toBe(0);
    for (const name of ["live.html", "file.html"])
      expect(textOf(name)).toContain(`<img alt="image" decoding="async" src="data:image/png;base64,${data}">`);
  } finally {
    await client.stop();
  }
});
