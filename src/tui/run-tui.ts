// A session and a terminal, joined until the user leaves. Promises: the terminal is as it was, whatever ends the program.

import type { AgentSession } from "../sdk/index.js";
import { App } from "./app.js";
import { TerminalUI } from "./extension-ui/terminal-ui.js";
import { defaultKeys } from "./keys.js";
import { Tty, type TtyOptions } from "./terminal.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { Leaving } from "./terminal-app.js";
import { builtInThemes } from "./theme/colours.js";
import { colourDepth, createTheme } from "./theme/theme.js";

export { TerminalUI };

export interface TuiOptions extends Omit<TtyOptions, "title"> {
  readonly session: AgentSession;
  readonly access: TerminalAccess;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The one that the session was made with. */
  readonly ui: TerminalUI;
  readonly log: { warn(text: string): void };
  /** Sent when everything is drawn. */
  readonly firstPrompt?: string;
}

export async function runTui({ session, access, env, log, ui, firstPrompt, ...streams }: TuiOptions): Promise<Leaving> {
  const tty = new Tty({ ...streams, title: `galley - ${session.sessionName ?? access.directory}` });
  const theme = createTheme(builtInThemes.dark ?? {}, colourDepth(env));
  const app = new App({ session, tty, theme, access, keys: defaultKeys(), log, ui });
  app.start();
  void session.whenReady(); // extensions are loaded beside the first frame
  if (firstPrompt) app.send(firstPrompt);
  try {
    return await app.done;
  } finally {
    app.screen.stop();
  }
}
