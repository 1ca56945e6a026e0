// Which keys do what while the editor has the focus. They are seen before the editor sees them.

import { matchesKey } from "@earendil-works/pi-tui";
import { editExternally, pasteImage, suspend } from "../give-terminal.js";
import type { AppAction } from "../keys.js";
import type { TerminalApp } from "../terminal-app.js";

/** Two presses within this time leave. */
const leaveMs = 1500;

export function bindKeys(app: TerminalApp): void {
  const table = app.keys;
  let lastClear = Number.NEGATIVE_INFINITY;
  const stop = () => void app.session.abort();
  const actions: Partial<Record<AppAction, () => boolean>> = {
    "app.clear": () => {
      const now = performance.now();
      if (now - lastClear < leaveMs) {
        app.leave({ code: 0 });
        return true;
      }
      lastClear = now;
      if (app.session.isStreaming) stop();
      if (app.editor.getText() !== "") {
        app.editor.setText("");
        app.draw();
      } else app.notice("info", "Press Ctrl-C again to leave");
      return true;
    },
    "app.exit": () => {
      if (app.editor.getText() !== "") return false;
      app.leave({ code: 0 });
      return true;
    },
    "app.interrupt": () => {
      if (app.editor.isShowingAutocomplete() || !app.session.isStreaming) return false;
      stop();
      return true;
    },
    "app.suspend": () => done(suspend(app), app),
    "app.editor.external": () => done(editExternally(app), app),
    "app.clipboard.pasteImage": () =>
      done(
        pasteImage(app, (image) => app.attach(image)),
        app,
      ),
    "app.tools.expand": () => toggle(app, "areToolsUnfolded"),
    "app.thinking.toggle": () => toggle(app, "areThoughtsUnfolded"),
    "app.thinking.cycle": () => done(app.session.cycleThinkingLevel(), app),
    "app.model.cycleForward": () => done(app.session.cycleModel(), app),
  };
  app.screen.addInputListener((data) => {
    for (const [action, run] of Object.entries(actions))
      if (table[action as AppAction].some((key) => matchesKey(data, key)) && run()) return { consume: true };
    return undefined;
  });
}

function toggle(app: TerminalApp, what: "areToolsUnfolded" | "areThoughtsUnfolded"): boolean {
  app.look[what] = !app.look[what];
  app.draw();
  return true;
}

function done(_result: unknown, app: TerminalApp): boolean {
  app.draw();
  return true;
}
