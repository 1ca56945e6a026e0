import { describe, expect, it, vi } from "vitest";
import type { TypedObject } from "../base/ndjson.js";
import type { SessionUI } from "../sdk/index.js";
import { manualClock } from "../testing/manual-clock.js";
import { UiBridge } from "./ui-bridge.js";

function open({ emitsTitle = false } = {}) {
  const clock = manualClock();
  const bridge = new UiBridge({ clock, emitsTitle });
  const frames: TypedObject[] = [];
  bridge.connect((frame) => void frames.push(frame as TypedObject));
  const answer = (fields: object) => bridge.receive({ type: "extension_ui_response", ...fields });
  return { clock, bridge, ui: bridge.ui as Required<SessionUI>, frames, answer };
}

type Ui = Required<SessionUI>;
interface Extra {
  signal?: AbortSignal;
  timeout?: number;
  onTimeout?(): void;
}
const dialogs = {
  select: (ui: Ui, extra?: Extra) => ui.select("Allow?", ["Allow", "Block"], extra),
  confirm: (ui: Ui, extra?: Extra) => ui.confirm("Sure?", "It is gone then", extra),
  input: (ui: Ui, extra?: Extra) => ui.input("Branch", "feature/...", extra),
  editor: (ui: Ui, extra?: Extra) => ui.editor("Plan", "1. Look", extra),
};
const each = Object.entries(dialogs).map(([method, ask]) => ({
  method,
  ask,
  none: method === "confirm" ? false : undefined,
}));

describe("what goes out", () => {
  it.each([
    [2 ** 31, { timeout: 2 ** 31 - 1 }],
    [1e15, { timeout: 2 ** 31 - 1 }],
    [Number.POSITIVE_INFINITY, {}],
  ])("has no timeout that a timer of the host cannot hold: %d", (timeout, sent) => {
    const { ui, frames } = open();
    void ui.confirm("Sure?", "", { timeout });
    expect(frames).toEqual([
      { type: "extension_ui_request", id: "ui_1", method: "confirm", title: "Sure?", message: "", ...sent },
    ]);
  });

  it("has the members of its method, an id of its own and nothing else", () => {
    const { ui, frames } = open({ emitsTitle: true });
    void ui.select("Allow?", ["Allow", { label: "Block", description: "for ever" }], { timeout: 9999.5 });
    void ui.confirm("Sure?", "It is gone then", { timeout: 30_000 });
    void ui.input("Branch");
    void ui.editor("Plan", "1. Look", undefined, { promptStyle: true });
    ui.notify("Blocked", "warning");
    ui.notify("Blocked", "loud" as "info");
    ui.setStatus("lint", "3\u001b[2J\n\u001b[38;5;248missues\u001b[39m\u009b");
    ui.setStatus("lint", undefined);
    ui.setWidget("lint", ["a.ts:1"], { placement: "aboveEditor" });
    ui.setWidget("lint", undefined);
    ui.setTitle("galley");
    ui.setEditorText("try this");
    ui.pasteToEditor("and this");
    const sent = frames.map(({ type, id, ...rest }, index) => {
      expect({ type, id }).toEqual({ type: "extension_ui_request", id: `ui_${index + 1}` });
      return rest;
    });
    expect(sent).toEqual([
      {
        method: "select",
        title: "Allow?",
        options: ["Allow", "Block"],
        timeout: 10_000,
        optionDetails: [{}, { description: "for ever" }],
      },
      { method: "confirm", title: "Sure?", message: "It is gone then", timeout: 30_000 },
      { method: "input", title: "Branch" },
      { method: "editor", title: "Plan", prefill: "1. Look", promptStyle: true },
      { method: "notify", message: "Blocked", notifyType: "warning" },
      { method: "notify", message: "Blocked" },
      { method: "setStatus", statusKey: "lint", statusText: "3 [2J \u001b[38;5;248missues\u001b[39m " },
      { method: "setStatus", statusKey: "lint" },
      { method: "setWidget", widgetKey: "lint", widgetLines: ["a.ts:1"], widgetPlacement: "aboveEditor" },
      { method: "setWidget", widgetKey: "lint" },
      { method: "setTitle", title: "galley" },
      { method: "set_editor_text", text: "try this" },
      { method: "set_editor_text", text: "and this" },
    ]);
  });

  it("is nothing for what a host cannot show", () => {
    const { ui, frames } = open();
    ui.setTitle("galley");
    ui.setWidget("clock", () => ({ render: () => [] }));
    expect(ui.setTheme("dark")).toEqual({ success: false, error: "Theme switching not supported in RPC mode" });
    expect(frames).toEqual([]);
  });

  it("gives modules nothing by which they could answer themselves", () => {
    const { ui } = open();
    for (const name of ["receive", "close", "connect"]) expect(name in ui).toBe(false);
  });
});

describe.each(each)("$method", ({ method, ask, none }) => {
  const good = method === "confirm" ? { confirmed: true } : { value: "Allow" };
  const given = method === "confirm" ? true : "Allow";

  it("resolves with the host's answer, once", async () => {
    const { ui, bridge, answer, frames } = open();
    const asked = ask(ui);
    answer({ id: "ui_1", ...good });
    answer({ id: "ui_1", cancelled: true });
    answer({ id: "ui_9", ...good });
    answer({ id: 1, ...good });
    expect(await asked).toBe(given);
    expect(frames).toHaveLength(1);
    expect(bridge.ignoredAnswers).toBe(3);
    expect(bridge.hasOpen).toBe(false);
  });

  it.each([
    { cancelled: true },
    { cancelled: true, ...good },
    {},
    method === "confirm" ? { value: "Allow" } : { confirmed: true },
    { value: 1, confirmed: "yes" },
    { value: ["Allow"], confirmed: 1 },
    { value: null, confirmed: null },
  ])("takes %j for no answer", async (fields) => {
    const { ui, answer } = open();
    const asked = ask(ui);
    answer({ id: "ui_1", ...fields });
    expect(await asked).toBe(none);
  });

  it("ends at its timeout: the caller gets the default, the host is told to close it", async () => {
    const { ui, clock, answer, frames } = open();
    const onTimeout = vi.fn();
    const asked = ask(ui, { timeout: 1000, onTimeout });
    clock.advance(1000);
    answer({ id: "ui_1", ...good });
    expect(await asked).toBe(none);
    expect(onTimeout).toHaveBeenCalledOnce();
    expect(frames[1]).toEqual({ type: "extension_ui_request", id: "ui_2", method: "cancel", targetId: "ui_1" });
    expect(frames).toHaveLength(2);
  });

  it("ends when the host's own clock says so, and nothing is left to close", async () => {
    const { ui, clock, answer, frames } = open();
    const onTimeout = vi.fn(() => {
      throw new Error("not my day");
    });
    const asked = ask(ui, { timeout: 1000, onTimeout });
    answer({ id: "ui_1", cancelled: true, timedOut: true });
    expect(await asked).toBe(none);
    expect(onTimeout).toHaveBeenCalledOnce();
    expect(frames).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it("ends with its signal, and is not even shown after it", async () => {
    const { ui, frames } = open();
    const controller = new AbortController();
    const asked = ask(ui, { signal: controller.signal });
    controller.abort();
    expect(await asked).toBe(none);
    expect(frames[1]).toMatchObject({ method: "cancel", targetId: "ui_1" });
    expect(await ask(ui, { signal: controller.signal })).toBe(none);
    expect(frames).toHaveLength(2);
  });

  it("ends when the host is gone, and afterwards before it began", async () => {
    const { ui, bridge, frames } = open();
    const asked = ask(ui);
    bridge.close();
    expect(await asked).toBe(none);
    expect(frames[1]).toMatchObject({ method: "cancel", targetId: "ui_1" });
    expect(await ask(ui)).toBe(none);
    ui.notify("Bye");
    expect(frames.map((frame) => frame.method)).toEqual([method, "cancel", "notify"]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "soon" as unknown as number])(
    "waits for as long as it takes with a timeout of %s",
    (timeout) => {
      const { ui, clock, frames } = open();
      void ask(ui, { timeout });
      expect(frames[0]).not.toHaveProperty("timeout");
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it("has its default while no host is connected", async () => {
    const bridge = new UiBridge({ clock: manualClock(), emitsTitle: false });
    expect(await ask(bridge.ui as Ui)).toBe(none);
  });
});
