import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import { manualClock } from "../../testing/manual-clock.js";
import { plainTheme } from "../compat/theme.js";
import { createLiveUI, type ToolUI } from "./custom-tool-ui.js";

function liveUI() {
  const warnings: string[] = [];
  const clock = manualClock();
  const log = { warn: (text: string) => void warnings.push(text), error() {} };
  return { live: createLiveUI({ clock, log }), clock, warnings };
}

describe("when the user cannot be asked", () => {
  it("every question has its plain answer", async () => {
    const { live, warnings } = liveUI();
    const { ui } = live;
    expect(live.hasUI).toBe(false);
    expect(await ui.select("t", ["a"])).toBeUndefined();
    expect(await ui.confirm("t", "m")).toBe(false);
    expect(await ui.input("t")).toBeUndefined();
    expect(await ui.editor("t")).toBeUndefined();
    expect(await ui.custom(() => {})).toBeUndefined();
    expect(ui.getEditorText()).toBe("");
    expect(ui.onTerminalInput(() => {})()).toBeUndefined();
    expect(ui.theme).toBe(plainTheme);
    expect([ui.getAllThemes(), ui.getTheme("x"), ui.getToolsExpanded()]).toEqual([[], undefined, false]);
    expect(ui.setTheme("x")).toEqual({ success: false, error: "UI not available" });
    ui.notify("m", "info");
    ui.setStatus("k", undefined);
    ui.setWidget("k", ["line"]);
    expect(warnings).toEqual([]);
  });

  it("only what exists is there; the object can be awaited", async () => {
    const { live } = liveUI();
    expect(["shake" in live.ui, "notify" in live.ui]).toEqual([false, true]);
    expect((live.ui as unknown as { shake?: unknown }).shake).toBeUndefined();
    expect(Object.keys(live.ui)).toEqual(expect.arrayContaining(["notify", "custom", "theme", "setWorkingVisible"]));
    live.set({ shake: () => "shaken" } as object, true);
    expect((live.ui as unknown as { shake(): unknown }).shake()).toBe("shaken");
    expect(await live.ui).toBe(live.ui);
  });
});

describe("a dialog ends", () => {
  const hanging = { select: () => new Promise<undefined>(() => {}), confirm: () => new Promise<boolean>(() => {}) };

  it("with the answer, and the implementation sees the options", async () => {
    const { live, clock } = liveUI();
    const seen: unknown[] = [];
    live.set({ select: async (...args) => (seen.push(args) > 0 ? "b" : "a") }, true);
    const options = [{ label: "a" }, "b"];
    expect(await live.ui.select("t", options, { timeout: 50, initialIndex: 1 })).toBe("b");
    expect(seen).toEqual([["t", options, expect.objectContaining({ timeout: 50, initialIndex: 1 })]]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("when the time is up, after onTimeout and only once", async () => {
    const { live, clock } = liveUI();
    live.set(hanging, true);
    let timeouts = 0;
    const answer = live.ui.confirm("t", "m", { timeout: 50, onTimeout: () => void timeouts++ });
    clock.advance(49);
    expect(timeouts).toBe(0);
    clock.advance(1);
    expect([await answer, timeouts]).toEqual([false, 1]);
  });

  it("when the signal fires, before or during", async () => {
    const { live } = liveUI();
    live.set(hanging, true);
    const controller = new AbortController();
    const answer = live.ui.select("t", ["a"], { signal: controller.signal });
    controller.abort();
    expect(await answer).toBeUndefined();
    expect(await live.ui.confirm("t", "m", { signal: AbortSignal.abort() })).toBe(false);
  });

  it("when the implementation fails", async () => {
    const { live, warnings } = liveUI();
    live.set(
      {
        confirm: () => Promise.reject(new Error("gone")),
        getEditorText: () => {
          throw new Error("no editor");
        },
      },
      true,
    );
    expect(await live.ui.confirm("t", "m")).toBe(false);
    expect(live.ui.getEditorText()).toBe("");
    expect(warnings).toEqual(["ui.confirm failed: gone", "ui.getEditorText failed: no editor"]);
  });
});

describe("a tool that took hold of it at load", () => {
  let modules: ToolModules;
  beforeEach(() => {
    modules = toolModules();
  });
  afterEach(() => modules.remove());

  it("sees the UI that comes later, and its end", async () => {
    const text = moduleThatSays(
      "asker",
      "[await select('t', ['a']), await ui.input('t'), pi.hasUI, ctx.hasUI, ctx.ui === ui]",
    );
    modules.write({
      "a.ts": text
        .replace("(pi) => (", "(pi) => { const { ui } = pi; const { select } = ui; return (")
        .replace(/\}\);\s*$/, "}); };"),
    });
    const loaded = await modules.load(["a.ts"]);
    expect(loaded.errors).toEqual([]);
    const ask = async () => JSON.parse(await textOf(callTool(loaded, "asker")));
    expect(await ask()).toEqual([null, null, false, false, true]);
    const ui: Partial<ToolUI> = { select: async () => "a", input: async () => "typed" };
    loaded.setUIContext(ui, true);
    expect(await ask()).toEqual(["a", "typed", true, true, true]);
    loaded.setUIContext(undefined, false);
    expect(await ask()).toEqual([null, null, false, false, true]);
  });
});
