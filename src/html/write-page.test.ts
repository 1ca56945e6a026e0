// O-5: an export is whole or not there, its owner's alone, and never in the place of something else.

import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { GalleyError } from "../base/errors.js";
import { exportPieces } from "./export-html.js";
import { sourceOf } from "./page.test-kit.js";
import { exportName, typedPath, writeExport } from "./write-page.js";

const sessionText = '{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\n';
const pieces = () => exportPieces(sourceOf(sessionText));
let directory = "";
let path = "";

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "out.html");
});

async function* broken(): AsyncGenerator<string> {
  yield "half";
  throw new Error("cannot go on");
}

describe("writeExport", () => {
  it("writes the whole page for its owner alone, and nothing beside it", async () => {
    const { bytes } = await writeExport({ path, pieces: pieces() });
    const page = readFileSync(path, "utf8");
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(bytes).toBe(Buffer.byteLength(page));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["out.html"]);
  });

  it("replaces an earlier export, other names of which keep the old one", async () => {
    await writeExport({ path, pieces: pieces() });
    linkSync(path, join(directory, "kept.html"));
    const named = `${sessionText}{"type":"session_info","id":"a","parentId":null,"timestamp":"","name":"Second"}\n`;
    await writeExport({ path, pieces: exportPieces(sourceOf(named)) });
    expect(readFileSync(path, "utf8")).toContain("<title>Second</title>");
    expect(readFileSync(join(directory, "kept.html"), "utf8")).toContain("<title>x</title>");
  });

  it.each([
    "",
    "notes",
    "<!doctype html>\n<html>my page</html>",
    ` <meta name="generator" content="galley session export">`,
  ])("leaves any other file as it is: %j", async (text) => {
    writeFileSync(path, text);
    const message = `${path} exists and is not an earlier export; it is left as it is`;
    await expect(writeExport({ path, pieces: pieces() })).rejects.toMatchObject({ code: "file_refused", message });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(readdirSync(directory)).toEqual(["out.html"]);
  });

  it("replaces another file when it is asked to, and closes it to others", async () => {
    writeFileSync(path, "notes", { mode: 0o644 });
    await writeExport({ path, pieces: pieces(), overwrite: true });
    expect(readFileSync(path, "utf8")).toContain("</html>");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("never follows a link and never replaces a directory, even with overwrite", async () => {
    const victim = join(directory, "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, path);
    const request = { path, displayPath: "out.html", overwrite: true };
    const message = "Cannot write out.html: it is not a file";
    await expect(writeExport({ ...request, pieces: pieces() })).rejects.toMatchObject({ message });
    rmSync(path);
    mkdirSync(path);
    await expect(writeExport({ ...request, pieces: pieces() })).rejects.toMatchObject({ message });
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });

  it("W-3: refuses a way that leads elsewhere by now", async () => {
    mkdirSync(join(directory, "real"));
    symlinkSync(join(directory, "real"), join(directory, "way"));
    await expect(writeExport({ path: join(directory, "way/out.html"), pieces: pieces() })).rejects.toBeInstanceOf(
      GalleyError,
    );
    mkdirSync(join(directory, "real/deep"));
    await expect(writeExport({ path: join(directory, "way/deep/out.html"), pieces: pieces() })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(readdirSync(join(directory, "real/deep"))).toEqual([]);
  });

  it("makes missing directories, and takes them away again when it fails", async () => {
    const deep = join(directory, "a/b/out.html");
    await expect(writeExport({ path: deep, pieces: broken() })).rejects.toThrow("cannot go on");
    expect(readdirSync(directory)).toEqual([]);
    await writeExport({ path: deep, pieces: pieces() });
    expect(readFileSync(deep, "utf8")).toContain("</html>");
  });

  it("leaves the old export when it fails or is aborted", async () => {
    await writeExport({ path, pieces: pieces() });
    const before = readFileSync(path, "utf8");
    await expect(writeExport({ path, pieces: broken() })).rejects.toThrow("cannot go on");
    const controller = new AbortController();
    async function* aborting(): AsyncGenerator<string> {
      yield "half";
      controller.abort();
    }
    const { signal } = controller;
    await expect(writeExport({ path, pieces: aborting(), signal })).rejects.toMatchObject({ code: "aborted" });
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(readdirSync(directory)).toEqual(["out.html"]);
  });

  it("gives way to a file that came or changed meanwhile", async () => {
    async function* slow(): AsyncGenerator<string> {
      yield* pieces();
      writeFileSync(path, "theirs");
    }
    await expect(writeExport({ path, pieces: slow() })).rejects.toMatchObject({ code: "file_changed" });
    expect(readFileSync(path, "utf8")).toBe("theirs");
    await expect(writeExport({ path, pieces: slow(), overwrite: true })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(readdirSync(directory)).toEqual(["out.html"]);
  });

  it("reports the error of the disk without the name of its temporary file", async () => {
    const message = "Cannot write a/out.html: ENOTDIR: not a directory";
    writeFileSync(join(directory, "a"), "");
    const request = { path: join(directory, "a/b/out.html"), displayPath: "a/out.html", pieces: pieces() };
    await expect(writeExport(request)).rejects.toMatchObject({ code: "file_refused", message });
  });
});

describe("typedPath", () => {
  it("is where the user's links lead, so that writing there follows none", async () => {
    mkdirSync(join(directory, "real"));
    symlinkSync(join(directory, "real"), join(directory, "way"));
    const typed = typedPath(join(directory, "way/new/out.html"));
    expect(typed).toBe(join(directory, "real/new/out.html"));
    await writeExport({ path: typed, pieces: pieces() });
    expect(readdirSync(join(directory, "real/new"))).toEqual(["out.html"]);
  });
});

describe("exportName", () => {
  it("is made of the session file's name, or of the id of a session without one", () => {
    expect(exportName({ sessionFile: "/a/2026_x.jsonl", sessionId: "x" })).toBe("galley-session-2026_x.html");
    expect(exportName({ sessionId: "x" })).toBe("galley-session-x.html");
  });
});
