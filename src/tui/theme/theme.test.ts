// Themes: which colours a setting means, and what a terminal says about its background.

import { describe, expect, it } from "vitest";
import { backgroundAnswer, backgroundOf } from "./background.js";
import { chooseTheme, themeNames } from "./choose-theme.js";
import { builtInThemes } from "./colours.js";
import { createLiveTheme } from "./live-theme.js";
import { readTheme } from "./read-theme.js";
import { colourDepth } from "./theme.js";

const file = (name: string, value: unknown) => ({ name, text: JSON.stringify(value) });

describe("themes", () => {
  it("reads pi's format: variables, numbers, short forms, the terminal's own colour", () => {
    const text = JSON.stringify({
      name: "mine",
      vars: { blue: "#00f", gold: 220, main: "blue" },
      colors: { accent: "main", warning: "gold", text: "", error: "#AA0000" },
    });
    const read = readTheme(text);
    expect(read).toMatchObject({
      colours: { accent: "#0000ff", warning: 220, text: "", error: "#AA0000", muted: builtInThemes.dark?.muted },
    });
  });

  it.each([
    ["not JSON", "it is not a JSON object"],
    ['{"colors":{"accent":"nope"}}', 'colors.accent is not a colour: "nope"'],
    ['{"vars":{"a":"b","b":"a"},"colors":{"accent":"a"}}', 'colors.accent is not a colour: "a"'],
    ['{"colors":{"accent":300}}', "colors.accent is not a colour: 300"],
    ["{}", "it has no object of colors"],
  ])("names what is wrong with %s", (text, problem) => {
    expect(readTheme(text)).toEqual({ problem });
  });

  it("uses dark for what it cannot use, and says so", () => {
    const files = [file("broken", { colors: { accent: "?" } }), file("mine", { colors: { accent: 3 } })];
    expect(chooseTheme("mine", files, "light").colours.accent).toBe(3);
    expect(chooseTheme("broken", files, "light")).toEqual({
      name: "dark",
      colours: builtInThemes.dark,
      problem: 'The theme broken cannot be used: colors.accent is not a colour: "?". The theme dark is used.',
    });
    expect(chooseTheme("toString", [], "light").problem).toBe("There is no theme toString. The theme dark is used.");
    expect(chooseTheme("auto", files, "light").colours).toBe(builtInThemes.light);
    expect(themeNames(files)).toEqual(["auto", "dark", "light", "high-contrast", "broken", "mine"]);
  });

  it("understands the terminal's answer in every length of colour", () => {
    expect(backgroundAnswer("\u001b]11;rgb:ffff/ffff/ffff\u0007")).toBe("light");
    expect(backgroundAnswer("\u001b]11;rgb:fb/fa/f6\u001b\\")).toBe("light");
    expect(backgroundAnswer("\u001b]11;rgb:1515/1717/1c1c\u001b\\")).toBe("dark");
    expect(backgroundAnswer("\u001b]10;rgb:ffff/ffff/ffff\u0007")).toBeUndefined();
  });

  it("else what the environment says", () => {
    expect(["0;15", "15;0", "0;default;7", "12;8", "x", ""].map((COLORFGBG) => backgroundOf({ COLORFGBG }))).toEqual([
      "light",
      "dark",
      "light",
      "dark",
      undefined,
      undefined,
    ]);
  });

  it("changes its colours while it is used, and keeps bold without any", () => {
    const theme = createLiveTheme({ name: "one", colours: { accent: 1 } }, "256");
    const { fg } = theme;
    expect(fg("accent", "x")).toContain("38;5;1m");
    theme.setColours({ name: "two", colours: { accent: 2 } });
    expect([fg("accent", "x").includes("38;5;2m"), theme.version]).toEqual([true, 1]);
    const none = createLiveTheme(
      { name: "one", colours: { accent: 1 } },
      colourDepth({ NO_COLOR: "", TERM: "xterm-256color" }),
    );
    expect([none.fg("accent", "x"), none.bold("x")]).toEqual(["x", "\u001b[1mx\u001b[22m"]);
  });
});
