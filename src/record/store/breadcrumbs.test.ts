import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { readBreadcrumb, terminalId, ttyPath, writeBreadcrumb } from "./breadcrumbs.js";

describe("a terminal's id", () => {
  it.each([
    [{}, "/dev/pts/3", "pts-3"],
    [{ TMUX_PANE: "%1" }, "/dev/ttys002", "ttys002"],
    [{ KITTY_WINDOW_ID: "7", TMUX_PANE: "%1" }, undefined, "7"],
    [{ TMUX_PANE: "%12" }, undefined, "-12"],
    [{ TERM_SESSION_ID: "w0t0p0:ABC-1" }, undefined, "w0t0p0-ABC-1"],
    [{ WT_SESSION: "../../etc/passwd" }, undefined, "-etc-passwd"],
    [{ KITTY_WINDOW_ID: "" }, undefined, undefined],
  ])("of %j and %s is %s", (env, tty, expected) => {
    expect(terminalId(env, tty)).toBe(expected);
  });

  it("comes from the terminal behind standard input, where there is one and the system tells", () => {
    const directory = temporaryDirectory();
    symlinkSync("/dev/pts/9", join(directory, "tty"));
    symlinkSync("socket:[123]", join(directory, "socket"));
    expect(ttyPath({ isTTY: true }, join(directory, "tty"))).toBe("/dev/pts/9");
    expect(ttyPath({ isTTY: true }, join(directory, "socket"))).toBeUndefined();
    expect(ttyPath({ isTTY: true }, join(directory, "nothing"))).toBeUndefined();
    expect(ttyPath({ isTTY: false }, join(directory, "tty"))).toBeUndefined();
  });
});

describe("a breadcrumb", () => {
  it("is two lines, and reads back", async () => {
    const directory = temporaryDirectory();
    await writeBreadcrumb(directory, "pts-3", { cwd: "/work", sessionFile: "/s/a.jsonl" });
    await writeBreadcrumb(directory, "pts-3", { cwd: "/work", sessionFile: "/s/b.jsonl" });
    expect(readFileSync(join(directory, "pts-3"), "utf8")).toBe("/work\n/s/b.jsonl\n");
    expect(await readBreadcrumb(directory, "pts-3")).toEqual({ cwd: "/work", sessionFile: "/s/b.jsonl" });
  });

  it("is undefined when it cannot be determined or is damaged", async () => {
    const directory = temporaryDirectory();
    await writeBreadcrumb(directory, "a", { cwd: "/two\nlines", sessionFile: "/s" });
    expect(await readBreadcrumb(directory, "a")).toBeUndefined();
    writeFileSync(join(directory, "b"), "/only one");
    expect(await readBreadcrumb(directory, "b")).toBeUndefined();
  });
});
