// The review view of a conversation: opened by the user, or by the model's wish to apply something. There is one at a time.

import type { ApplyAnswer, ApplyQuestion } from "../../sdk/review/apply-questions.js";
import { sessionReview } from "../../sdk/review/session-review.js";
import { pendingIdOf } from "../commands/decide-words.js";
import type { TerminalApp } from "../terminal-app.js";
import { ReviewView } from "./review-view.js";

const open = new WeakMap<TerminalApp, ReviewView>();

/** Throws for an id that nothing pending has. */
export async function openReview(app: TerminalApp, id?: string): Promise<void> {
  const key = id === undefined ? undefined : pendingIdOf(app.session, id);
  if (open.has(app)) return;
  await viewFor(app).start(key);
}

export async function askInReview(
  app: TerminalApp,
  question: ApplyQuestion,
  signal: AbortSignal | undefined,
): Promise<ApplyAnswer> {
  const known = open.get(app);
  return (known ?? viewFor(app)).ask(question, { isOwn: !known, signal });
}

function viewFor(app: TerminalApp): ReviewView {
  const view = new ReviewView({
    source: sessionReview(app.session),
    theme: app.theme,
    keys: app.reviewKeys,
    now: () => performance.now(),
    draw: () => app.draw(),
    close() {
      open.delete(app);
      app.closeView();
    },
    leave: () => app.leave({ code: 0 }),
    edit: (text, name) => app.access.editText(text, name),
    openFile: async (path) => void (await app.access.openFile(path)),
    tip: () => app.tip,
    decided: (text) => app.notice("info", text), // the last decision stands at the end of the conversation
    copy: (text) => app.screen.terminal.write(copied(text)),
  });
  open.set(app, view);
  app.openView(view);
  return view;
}

/** The terminal's own way to its clipboard. */
export function copied(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}
