// A session and a terminal, joined until the user leaves. Promises: the terminal is as it was, whatever ends the program.

import { sanitizeForTerminal } from "../base/sanitize.js";
import { firstAccessLine } from "./access-commands.js";
import type { AppDeps } from "./app.js";
import { App } from "./app.js";
import { TerminalUI } from "./extension-ui/terminal-ui.js";
import { openSessions } from "./pickers/sessions.js";
import { runTour } from "./run-tour.js";
import { speaksAscii, spellAscii } from "./spell-ascii.js";
import { Tty, type TtyOptions } from "./terminal.js";
import type { Leaving } from "./terminal-app.js";
import { createThemeControl } from "./theme/apply-theme.js";
import { useKeyFile } from "./use-key-file.js";
import { plannerWelcome } from "./welcome.js";

export { TerminalUI };

export interface TuiOptions
  extends Pick<TtyOptions, "input" | "output" | "hasMouse">,
    Pick<AppDeps, "session" | "access" | "env" | "ui" | "log" | "applyQuestions"> {
  readonly hasTitle: boolean;
  /** How the process may end besides the user's wish. */
  readonly ends: {
    onSignal(leave: (code: number) => void): void;
    onExit(restore: () => void): void;
  };
  /** What is written past the screen by other code: each line becomes a notice. */
  readonly onNoise: (listener: (line: string) => void) => void;
  /** No model is set up at all. */
  readonly isUnconfigured: boolean;
  /** Step by step, in the scratch project that this was started in. */
  readonly isTour: boolean;
  /** Sent when everything is drawn. */
  readonly firstPrompt?: string;
  /** The list of sessions comes first. */
  readonly opensSessions?: boolean;
}

export async function runTui(options: TuiOptions): Promise<Leaving> {
  const { session, access, env, log, ends, ui, applyQuestions } = options;
  const tty = createTty(options);
  const themes = createThemeControl(access, env);
  const { keys, review: reviewKeys, notices } = useKeyFile(access);
  const app = new App({ session, tty, themes, env, access, keys, reviewKeys, log, ui, applyQuestions });
  ends.onExit(() => app.screen.stop());
  ends.onSignal((code) => app.leave({ code }));
  try {
    app.start();
    void session.whenReady(); // extensions are loaded beside the first frame
    for (const notice of notices) app.notice("warning", notice);
    begin(app, options);
    return await app.done;
  } finally {
    app.screen.stop();
  }
}

function begin(app: App, { onNoise, isUnconfigured, isTour, opensSessions, firstPrompt }: TuiOptions): void {
  onNoise((line) => app.notice("warning", sanitizeForTerminal(line)));
  if (app.access.history.load().length === 0 && !isTour) app.notice("info", firstAccessLine(app.session));
  if (isUnconfigured && !isTour) app.notice("info", plannerWelcome.join("\n"));
  if (isTour) app.onView = runTour(app);
  if (opensSessions) openSessions(app, { isStart: true });
  // It is for the session that is chosen.
  if (firstPrompt && opensSessions) app.editor.setText(firstPrompt);
  else if (firstPrompt) app.send(firstPrompt);
}

function createTty({ session, access, env, input, output, hasTitle, hasMouse = false }: TuiOptions): Tty {
  return new Tty({
    input,
    output,
    hasMouse,
    ...(hasTitle ? { title: `galley - ${session.sessionName ?? access.directory}` } : {}),
    ...(speaksAscii(env) ? { spell: spellAscii } : {}),
  });
}
