// The conversation and its terminal: what the user does becomes calls of the session, what the session tells becomes blocks.
// It owns the screen and the parts on it; each part is a file of its own.

import { type Component, Editor, Text } from "@earendil-works/pi-tui";
import { messageOf } from "../base/errors.js";
import { sanitizeForTerminal } from "../base/sanitize.js";
import type { ImageContent } from "../protocol/content.js";
import type { AgentSession, AgentSessionEvent, Theme } from "../sdk/index.js";
import { BlockView } from "./chat/block-view.js";
import { ChatLog } from "./chat/chat-log.js";
import type { ChatLook } from "./chat/chat-look.js";
import { runCommand } from "./commands.js";
import { bindKeys } from "./editor/bind-keys.js";
import { footerLines } from "./footer.js";
import { FullScreen, type FullView } from "./full-screen.js";
import type { KeyTable } from "./keys.js";
import { Notifier } from "./notifier.js";
import { Screen } from "./screen.js";
import type { Tty } from "./terminal.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { Leaving, TerminalApp } from "./terminal-app.js";
import { settleTheme, type ThemeControl } from "./theme/apply-theme.js";
import type { Background } from "./theme/background.js";
import { editorTheme, markdownTheme } from "./theme/component-themes.js";
import { workingLine } from "./working-line.js";

export interface AppDeps {
  readonly session: AgentSession;
  readonly tty: Tty;
  readonly themes: ThemeControl & { background: Background };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the terminal program may do outside the terminal and the session. */
  readonly access: TerminalAccess;
  readonly keys: KeyTable;
  readonly log: { warn(text: string): void };
}

const tickMs = 100;

export class App implements TerminalApp {
  readonly theme: Theme;
  readonly themes: ThemeControl & { background: Background };
  readonly keys: KeyTable;
  readonly access: TerminalAccess;
  readonly session: AgentSession;
  readonly screen: Screen;
  readonly chat = new ChatLog(() => performance.now());
  readonly look: ChatLook;
  readonly editor: Editor;
  /** What stands between the conversation and the editor, in this order; a dialog takes the editor's place. */
  readonly above: Component[] = [];
  readonly #tty: Tty;
  readonly #notifier: Notifier;
  /** Sent with the next prompt. */
  #images: ImageContent[] = [];
  /** Called when a view opens. */
  onView: () => void = () => {};
  #dialog: Component | undefined;
  #drawn = 0;
  #pending = 0;
  #ticker: NodeJS.Timeout | undefined;
  #leave: (leaving: Leaving) => void = () => {};
  readonly done: Promise<Leaving>;

  constructor(deps: AppDeps) {
    const { session, tty, themes } = deps;
    const { theme } = themes;
    this.theme = theme;
    this.themes = themes;
    this.keys = deps.keys;
    this.access = deps.access;
    this.session = session;
    this.#tty = tty;
    this.screen = new Screen(tty, (error) => deps.log.warn(`drawing failed: ${messageOf(error)}`));
    this.look = {
      theme,
      markdown: markdownTheme(theme),
      now: () => performance.now(),
      areToolsUnfolded: false,
      areThoughtsUnfolded: false,
    };
    this.editor = new Editor(this.screen, editorTheme(theme), { paddingX: 1 });
    this.editor.onSubmit = (text) => this.send(text);
    this.#notifier = new Notifier({
      kind: deps.access.preferences.notifications,
      env: deps.env,
      now: () => performance.now(),
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      write: (text) => tty.write(text),
    });
    this.done = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  start(): void {
    this.chat.restore(this.session.messages);
    this.session.subscribe((event) => this.#take(event));
    bindKeys(this);
    this.screen.bottom.addChild(this.#bottom());
    this.screen.setFocus(this.editor);
    this.screen.start();
    this.access.attach(this.screen);
    this.#tty.onFocus((hasFocus) => this.#notifier.focus(hasFocus));
    void settleTheme(this.themes, {
      tty: this.#tty,
      access: this.access,
      changed: () => this.redraw(),
      tell: (problem) => this.notice("warning", problem),
    });
    this.refreshPending();
    this.draw();
  }

  leave(leaving: Leaving): void {
    clearInterval(this.#ticker);
    void this.screen.leave().finally(() => this.#leave(leaving));
  }

  /** What the user typed is a command, a prompt, or a message for the run under way. */
  send(text: string, kind: "steer" | "followUp" = "steer"): void {
    const said = text.trim();
    if (said === "") return;
    this.editor.addToHistory(text);
    if (text.startsWith("/")) return this.#report(runCommand(this, said));
    this.#report(this.#prompt(said, kind));
  }

  notice(level: "info" | "warning" | "error", text: string): void {
    this.chat.notice(level, text);
    this.draw();
  }

  attach(image: ImageContent): void {
    this.#images.push(image);
    this.draw();
  }

  /** Everything that is kept as lines is old: the colours have changed. */
  redraw(): void {
    for (const block of this.screen.chat) block.invalidate();
    this.draw();
  }

  openView(view: FullView): void {
    this.onView();
    this.screen.openFull(new FullScreen(this.#tty, view));
  }

  closeView(): void {
    this.screen.closeFull();
    this.refreshPending();
  }

  showDialog(dialog: Component | undefined): void {
    this.#dialog = dialog;
    this.#notifier.questionWaits(dialog !== undefined);
    this.screen.setFocus(dialog ?? this.editor);
    this.draw();
  }

  refreshPending(): void {
    void this.session.getPendingActions().then(
      (actions) => {
        this.#pending = actions.length;
        this.draw();
      },
      (error: unknown) => this.notice("error", messageOf(error)),
    );
  }

  draw(): void {
    for (const item of this.chat.items.slice(this.#drawn)) this.screen.chat.push(new BlockView(item, this.look));
    this.#drawn = this.chat.items.length;
    this.screen.requestRender();
  }

  async #prompt(text: string, kind: "steer" | "followUp"): Promise<void> {
    const images = this.#images.splice(0);
    if (!this.session.isStreaming) return this.session.prompt(text, { images });
    return kind === "steer" ? this.session.steer(text, images) : this.session.followUp(text, images);
  }

  #take(event: AgentSessionEvent): void {
    this.chat.apply(event);
    if (event.type.startsWith("pending_action")) this.refreshPending();
    if (event.type === "agent_start") {
      this.#ticker ??= setInterval(() => this.draw(), tickMs);
      this.#notifier.runStarted();
    }
    if (event.type === "agent_settled") {
      this.#notifier.runEnded();
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
    this.draw();
  }

  #bottom(): Component {
    const { theme } = this;
    return {
      invalidate: () => {},
      render: (width) => [
        "",
        ...workingLine(this.session, theme, width),
        ...this.above.flatMap((part) => part.render(width)),
        ...this.#pendingLine(width),
        ...this.#imageLine(),
        ...(this.#dialog ?? this.editor).render(width),
        ...footerLines(
          {
            session: this.session,
            access: this.access.mode(),
            directory: this.access.directory,
            branch: undefined,
            pending: this.#pending,
            warnings: [],
          },
          theme,
          width,
        ),
      ],
    };
  }

  #imageLine(): string[] {
    const count = this.#images.length;
    return count === 0
      ? []
      : [` ${this.theme.fg("muted", `[${count} image${count === 1 ? "" : "s"}] goes with the next prompt`)}`];
  }

  #pendingLine(width: number): string[] {
    if (this.#pending === 0) return [];
    const { theme } = this;
    const line = ` ${theme.fg("accent", "◌")} ${this.#pending} pending   ${theme.fg("muted", "ctrl+r review · /apply · /discard")}`;
    return new Text(line, 0, 0).render(width);
  }

  #report(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.notice("error", sanitizeForTerminal(messageOf(error))));
  }
}
