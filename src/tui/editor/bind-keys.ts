// Which keys do what while the editor has the focus. They are seen before the editor sees them. A dialog has the keyboard for
// itself, but for the two presses that leave.

import { isKeyRelease, matchesKey } from "@earendil-works/pi-tui";
import { cycleAccess } from "../access-commands.js";
import { runCommand } from "../command-table.js";
import { editExternally, pasteImage, suspend } from "../give-terminal.js";
import { askKey } from "../pickers/ask-choice.js";
import type { TerminalApp } from "../terminal-app.js";
import type { AppAction } from "../terminal-keys.js";

/** Two presses within this time leave. */
const leaveMs = 1500;
/** Two presses within this time clear the text, or open the tree. */
const twiceMs = 500;

/** False: the key means something else now, and goes on to the editor. */
type Action = () => boolean;

export function bindKeys(app: TerminalApp): void {
  const actions = actionsOf(app);
  const press = leaveOnTwo(app);
  const isFor = (action: AppAction, data: string) => app.keys[action].some((key) => matchesKey(data, key));
  app.screen.addInputListener((data) => {
    if (isKeyRelease(data)) return undefined; // newer terminals tell that too, and a press is no second one
    // Two fast presses over a slow line come as one.
    if (data === "\u001b\u001b" && !app.hasDialog) {
      if (!actions["app.interrupt"]?.()) actions["app.interrupt"]?.();
      return { consume: true };
    }
    if (isFor("app.clear", data) && press()) return { consume: true };
    if (app.hasDialog) return undefined;
    for (const [action, run] of Object.entries(actions))
      if (isFor(action as AppAction, data) && run()) return { consume: true };
    return undefined;
  });
}

/** Whatever is open: a second press leaves. */
function leaveOnTwo(app: TerminalApp): Action {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isSecond = now - last < leaveMs;
    last = now;
    if (isSecond) app.leave({ code: 0 });
    return isSecond;
  };
}

function actionsOf(app: TerminalApp): Partial<Record<AppAction, Action>> {
  const command =
    (line: string): Action =>
    () => {
      runCommand(app, line).catch((error: Error) => app.notice("error", error.message));
      return true;
    };
  return {
    "app.clear": () => clear(app),
    "app.exit": () => exit(app),
    "app.interrupt": interrupt(app),
    "app.tools.expand": () => toggle(app, "areToolsUnfolded"),
    "app.thinking.toggle": () => toggle(app, "areThoughtsUnfolded"),
    "app.thinking.cycle": () => told(app, app.session.cycleThinkingLevel(), "This model has no other thinking level."),
    "app.model.cycleForward": () =>
      told(app, app.session.cycleModel(), "There is no other model with a key. /model lists them."),
    "app.access.cycle": () => cycleAccess(app),
    "app.suspend": () => begun(suspend(app)),
    "app.editor.external": () => begun(editExternally(app)),
    "app.clipboard.pasteImage": () => begun(pasteImage(app)),
    "app.model.select": command("/model"),
    "app.review": command("/review"),
    "app.message.followUp": () => followUp(app),
    "app.message.dequeue": () => app.takeBackQueue() || app.session.isStreaming,
    "app.session.new": command("/new"),
    "app.session.resume": command("/resume"),
    "app.session.tree": command("/tree"),
    "app.session.fork": command("/fork"),
  };
}

function clear(app: TerminalApp): boolean {
  if (isBusy(app)) stop(app);
  else if (app.editor.getText() !== "") {
    app.editor.setText("");
    app.draw();
    return true;
  }
  app.hint("Press Ctrl-C again to leave", leaveMs);
  return true;
}

function exit(app: TerminalApp): boolean {
  if (app.editor.getText() !== "") return false;
  if (!app.session.isStreaming) app.leave({ code: 0 });
  else
    void askKey(app, "A run is on. Leave?", { y: "stop it and leave", n: "stay" }).then((key) => {
      if (key === "y") app.leave({ code: 0 });
    });
  return true;
}

/** Stops what runs. Otherwise two presses clear the text, which the history keeps, or open the tree. */
function interrupt(app: TerminalApp): Action {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    if (app.editor.isShowingAutocomplete()) return false;
    if (isBusy(app)) {
      stop(app);
      return true;
    }
    const now = performance.now();
    const isSecond = now - last < twiceMs;
    last = isSecond ? Number.NEGATIVE_INFINITY : now;
    if (!isSecond) return false;
    const text = app.editor.getExpandedText();
    if (text.trim() === "") runCommand(app, "/tree").catch((error: Error) => app.notice("error", error.message));
    else {
      app.editor.addToHistory(text);
      app.editor.setText("");
      app.draw();
    }
    return true;
  };
}

function isBusy({ session }: TerminalApp): boolean {
  return session.isStreaming || session.isRetrying || session.isCompacting || session.isBashRunning;
}

/** The queue first: what comes back must not be delivered meanwhile. */
function stop(app: TerminalApp): void {
  app.takeBackQueue();
  app.session.abortBash();
  if (app.session.isCompacting) app.session.abortCompaction();
  app.session.abort().catch((error: Error) => app.notice("error", error.message));
}

function followUp(app: TerminalApp): boolean {
  app.send(app.editor.take(), "followUp");
  app.draw();
  return true;
}

function toggle(app: TerminalApp, what: "areToolsUnfolded" | "areThoughtsUnfolded"): boolean {
  app.look[what] = !app.look[what];
  app.draw();
  return true;
}

/** `null`: there was nothing to change to. */
function told(app: TerminalApp, result: unknown, otherwise: string): boolean {
  if (result === null) app.notice("info", otherwise);
  app.draw();
  return true;
}

/** What goes on by itself, and tells of its failures. */
function begun(_work: void): boolean {
  return true;
}
