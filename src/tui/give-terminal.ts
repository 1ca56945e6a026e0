// What the user does with keys that reach beyond this program: Ctrl-Z, the external editor, the clipboard. Each becomes a
// call of `TerminalAccess`; a failure becomes a notice.

import { messageOf } from "../base/errors.js";
import type { TerminalApp } from "./terminal-app.js";

export function suspend(app: TerminalApp): void {
  told(app, app.access.suspend());
}

/** What stands in the editor, written in the user's own. */
export function editExternally(app: TerminalApp): void {
  const edit = async () => {
    const text = await app.access.editText(app.editor.getExpandedText(), "prompt.md");
    if (text === undefined) app.notice("warning", "The editor failed. The text is as it was.");
    else app.editor.setText(text.replace(/\n$/, ""));
    app.draw();
  };
  told(app, edit());
}

export function pasteImage(app: TerminalApp): void {
  const paste = async () => {
    const found = await app.access.clipboardImage();
    if (found === "no program")
      app.notice("warning", "No program here reads images from the clipboard. Install  wl-clipboard  or  xclip.");
    else if (found === "no image") app.notice("info", "The clipboard holds no image.");
    else app.editor.insertTextAtCursor(app.attachments.add("clipboard", found));
    app.draw();
  };
  told(app, paste());
}

function told(app: TerminalApp, work: Promise<unknown>): void {
  work.catch((error: unknown) => app.notice("error", messageOf(error)));
}
