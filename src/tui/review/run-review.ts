// `galley review`: the review view alone, until the user closes it. Promises: the terminal is as it was.

import type { ReviewSource } from "../../sdk/review/review-source.js";
import { FullScreen } from "../full-screen.js";
import { speaksAscii, spellAscii } from "../spell-ascii.js";
import { Tty, type TtyOptions } from "../terminal.js";
import type { TerminalAccess } from "../terminal-access.js";
import { createThemeControl, settleTheme } from "../theme/apply-theme.js";
import { useKeyFile } from "../use-key-file.js";
import { copied } from "./open-review.js";
import { ReviewView } from "./review-view.js";

export interface ReviewOptions extends Omit<TtyOptions, "title" | "spell"> {
  readonly source: ReviewSource;
  readonly access: Pick<TerminalAccess, "editText" | "openFile" | "attach" | "preferences" | "themeFiles" | "keyFile">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The action to begin with. */
  readonly key?: string | undefined;
  /** Ends the view from outside: a signal has come. */
  readonly signal: AbortSignal;
}

/** How many are left. */
export async function runReview({ source, access, env, key, signal, ...streams }: ReviewOptions): Promise<number> {
  const tty = new Tty({ ...streams, ...(speaksAscii(env) ? { spell: spellAscii } : {}) });
  const themes = createThemeControl(access, env);
  const { review: keys, notices } = useKeyFile(access);
  let done: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  const view = new ReviewView({
    source,
    theme: themes.theme,
    keys,
    now: () => performance.now(),
    draw: () => full.requestRender(),
    close: () => done(),
    leave: () => view.close(),
    edit: (text, name) => access.editText(text, name),
    openFile: async (path) => void (await access.openFile(path)),
    copy: (text) => tty.write(copied(text)),
  });
  const full = new FullScreen(tty, view);
  const start = () => {
    tty.start(
      (data) => full.handleInput(data),
      () => full.resized(),
    );
    tty.onFocus((hasFocus) => {
      if (hasFocus) void view.refresh();
    });
    full.open();
  };
  access.attach({
    release() {
      full.close();
      tty.stop();
    },
    take: start,
  });
  const tell = (problem: string) => view.tell(problem);
  const changed = () => {
    view.recolour();
    full.resized();
  };
  signal.addEventListener("abort", () => view.close(), { once: true });
  try {
    start();
    void settleTheme(themes, { tty, access, tell, changed });
    for (const notice of notices) tell(notice);
    await view.start(key);
    await over;
  } finally {
    full.close();
    await tty.drainInput();
    tty.stop();
  }
  return (await source.actions()).length;
}
