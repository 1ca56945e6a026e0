// `galley review`: the review view alone, until the user closes it. Promises: the terminal is as it was.

import type { ReviewSource } from "../../sdk/review/review-source.js";
import { FullScreen } from "../full-screen.js";
import { Tty, type TtyOptions } from "../terminal.js";
import type { TerminalAccess } from "../terminal-access.js";
import { builtInThemes } from "../theme/colours.js";
import { colourDepth, createTheme } from "../theme/theme.js";
import { copied } from "./open-review.js";
import { ReviewView } from "./review-view.js";

export interface ReviewOptions extends Omit<TtyOptions, "title"> {
  readonly source: ReviewSource;
  readonly access: Pick<TerminalAccess, "editText" | "openFile">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The action to begin with. */
  readonly key?: string | undefined;
  /** Ends the view from outside: a signal has come. */
  readonly signal: AbortSignal;
}

/** How many are left. */
export async function runReview({ source, access, env, key, signal, ...streams }: ReviewOptions): Promise<number> {
  const tty = new Tty(streams);
  const theme = createTheme(builtInThemes.dark ?? {}, colourDepth(env));
  let done: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  const freely = async <T>(work: () => Promise<T>): Promise<T> => {
    full.close();
    tty.stop();
    try {
      return await work();
    } finally {
      start();
    }
  };
  const view = new ReviewView({
    source,
    theme,
    now: () => performance.now(),
    draw: () => full.requestRender(),
    close: () => done(),
    leave: () => view.close(),
    edit: (text, name) => freely(() => access.editText(text, name)),
    openFile: async (path) => void (await freely(() => access.openFile(path))),
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
  signal.addEventListener("abort", () => view.close(), { once: true });
  try {
    start();
    await view.start(key);
    await over;
  } finally {
    full.close();
    await tty.drainInput();
    tty.stop();
  }
  return (await source.actions()).length;
}
