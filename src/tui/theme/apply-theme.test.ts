// `theme: auto` on a terminal: its answer about the background is taken once, in time, and never becomes a key.

import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { Tty } from "../terminal.js";
import type { TerminalAccess } from "../terminal-access.js";
import { createThemeControl, settleTheme } from "./apply-theme.js";

function start(theme: string, env: Record<string, string> = { COLORTERM: "truecolor" }) {
  const input = Object.assign(new EventEmitter(), { setRawMode() {}, resume() {}, pause() {} });
  let written = "";
  const output = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    write(text: string) {
      written += text;
      return true;
    },
  });
  const access = {
    preferences: { theme, notifications: "off" },
    themeFiles: async () => [{ name: "mine", text: '{"colors":{"accent":"#010203"}}' }],
  } as unknown as TerminalAccess;
  const tty = new Tty({ input, output });
  const keys: string[] = [];
  tty.start(
    (key) => keys.push(key),
    () => {},
  );
  const control = createThemeControl(access, env);
  let changes = 0;
  const problems: string[] = [];
  const settled = settleTheme(control, {
    tty,
    access,
    changed: () => changes++,
    tell: (problem) => problems.push(problem),
  });
  return { input, tty, keys, control, settled, problems, written: () => written, changes: () => changes };
}

const white = Buffer.from("\u001b]11;rgb:ffff/ffff/ffff\u0007");

describe("theme: auto", () => {
  it("asks once and takes the answer", () => {
    const { input, tty, keys, control, written, changes } = start("auto");
    const before = control.theme.getFgAnsi("accent");
    input.emit("data", white);
    expect(written().split("\u001b]11;?").length).toBe(2);
    expect([control.background, changes(), keys]).toEqual(["light", 1, []]);
    expect(control.theme.getFgAnsi("accent")).not.toBe(before);
    input.emit("data", white);
    expect(changes()).toBe(1);
    tty.stop();
  });

  it("begins with what the environment says", () => {
    const { tty, control } = start("auto", { COLORFGBG: "0;15" });
    expect(control.background).toBe("light");
    tty.stop();
  });

  it("does not ask where a theme is set, and uses the user's own file", async () => {
    const { input, tty, control, settled, written, changes, keys, problems } = start("mine");
    await settled;
    expect(written()).not.toContain("\u001b]11;?");
    expect([control.theme.getFgAnsi("accent"), changes(), problems]).toEqual(["\u001b[38;2;1;2;3m", 1, []]);
    input.emit("data", white);
    expect([changes(), keys]).toEqual([1, []]);
    tty.stop();
  });
});
