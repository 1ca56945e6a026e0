// A session and a terminal, joined until the user leaves. Promises: the terminal is as it was, whatever ends the program.

import type { AgentSession } from "../sdk/index.js";
import type { ApplyQuestions } from "../sdk/review/apply-questions.js";
import { App } from "./app.js";
import { TerminalUI } from "./extension-ui/terminal-ui.js";
import { openSessions } from "./pickers/sessions.js";
import { Tty, type TtyOptions } from "./terminal.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { Leaving } from "./terminal-app.js";
import { builtInThemes } from "./theme/colours.js";
import { colourDepth, createTheme } from "./theme/theme.js";
import { useKeyFile } from "./use-key-file.js";

export { TerminalUI };

export interface TuiOptions extends Omit<TtyOptions, "title"> {
  readonly session: AgentSession;
  readonly access: TerminalAccess;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The one that the session was made with. */
  readonly ui: TerminalUI;
  readonly log: { warn(text: string): void };
  readonly applyQuestions?: ApplyQuestions;
  /** Sent when everything is drawn. */
  readonly firstPrompt?: string;
  /** The list of sessions comes first. */
  readonly opensSessions?: boolean;
}

export async function runTui({
  session,
  access,
  env,
  log,
  firstPrompt,
  ui,
  opensSessions,
  applyQuestions,
  ...streams
}: TuiOptions): Promise<Leaving> {
  const tty = new Tty({ ...streams, title: `galley - ${session.sessionName ?? access.directory}` });
  const theme = createTheme(builtInThemes.dark ?? {}, colourDepth(env));
  const { keys, notices } = useKeyFile(access);
  const app = new App({ session, tty, theme, access, keys, log, ui, applyQuestions });
  app.start();
  void session.whenReady(); // extensions are loaded beside the first frame
  for (const notice of notices) app.notice("warning", notice);
  if (opensSessions) openSessions(app, { isStart: true });
  // It is for the session that is chosen.
  if (firstPrompt && opensSessions) app.editor.setText(firstPrompt);
  else if (firstPrompt) app.send(firstPrompt);
  try {
    return await app.done;
  } finally {
    app.screen.stop();
  }
}
