// The conversation and its terminal: what the user does becomes calls of the session, what the session tells becomes blocks.
// It owns the screen and the parts on it; each part is a file of its own.

import type { Component, EditorComponent, EditorTheme } from "@earendil-works/pi-tui";
import { messageOf } from "../base/errors.js";
import { oneLine, sanitizeForTerminal } from "../base/sanitize.js";
import type { AgentSession, AgentSessionEvent, Theme } from "../sdk/index.js";
import type { ApplyQuestions } from "../sdk/review/apply-questions.js";
import { accessText, approvalWarnings } from "./access-commands.js";
import { BlockView } from "./chat/block-view.js";
import { type ChatItem, ChatLog } from "./chat/chat-log.js";
import type { ChatLook } from "./chat/chat-look.js";
import { extensionDrawing } from "./chat/extension-drawing.js";
import { runCommand } from "./command-table.js";
import { Attachments } from "./editor/attachments.js";
import { bindKeys } from "./editor/bind-keys.js";
import { createEditor } from "./editor/create-editor.js";
import type { PromptEditor } from "./editor/prompt-editor.js";
import { runBash } from "./editor/run-bash.js";
import type { TerminalUI } from "./extension-ui/terminal-ui.js";
import { footerLines, sessionWarnings } from "./footer.js";
import { FullScreen, type FullView } from "./full-screen.js";
import { mouseOff, mouseOn } from "./mouse.js";
import { Notifier } from "./notifier.js";
import { oneAtATime } from "./one-at-a-time.js";
import type { ReviewKeyTable } from "./review/review-keys.js";
import { Screen } from "./screen.js";
import { headerText, type PendingFact, pendingLine, queuedLines, todoLines } from "./status-lines.js";
import type { Tty } from "./terminal.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { Leaving, TerminalApp } from "./terminal-app.js";
import type { KeyTable } from "./terminal-keys.js";
import { settleTheme, type ThemeControl } from "./theme/apply-theme.js";
import type { Background } from "./theme/background.js";
import { editorTheme, markdownTheme } from "./theme/component-themes.js";
import { Doing, type Saying, workingLine } from "./working-line.js";

export interface AppDeps extends Pick<TerminalApp, "session" | "access" | "keys" | "reviewKeys"> {
  readonly tty: Tty;
  readonly themes: ThemeControl & { background: Background };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: { warn(text: string): void };
  /** The model's wishes to apply something, which the review view shows. */
  readonly applyQuestions?: ApplyQuestions | undefined;
  /** How the session and its extensions ask the user. */
  readonly ui: TerminalUI;
}

const tickMs = 100;

export class App implements TerminalApp {
  readonly theme: Theme;
  readonly themes: ThemeControl & { background: Background };
  readonly keys: KeyTable;
  readonly reviewKeys: ReviewKeyTable;
  readonly access: TerminalAccess;
  readonly session: AgentSession;
  readonly screen: Screen;
  readonly chat = new ChatLog(() => performance.now());
  readonly look: ChatLook;
  readonly editor: PromptEditor;
  readonly attachments = new Attachments();
  readonly #doing = new Doing(() => performance.now());
  /** What stands between the conversation and the editor, in this order; a dialog takes the editor's place. */
  readonly above: Component[] = [];
  readonly editorTheme: EditorTheme;
  readonly #ui: TerminalUI;
  readonly #tty: Tty;
  #replaced: EditorComponent | undefined;
  readonly #notifier: Notifier;
  /** Called when a view opens. */
  onView: () => void = () => {};
  tip: string | undefined;
  #dialog: Component | undefined;
  #hint: string | undefined;
  #branch: string | undefined;
  #view: FullView | undefined;
  #drawn = 0;
  #pending: readonly PendingFact[] = [];
  #ticker: NodeJS.Timeout | undefined;
  #leave: (leaving: Leaving) => void = () => {};
  readonly done: Promise<Leaving>;

  constructor(deps: AppDeps) {
    const { session, tty, themes } = deps;
    const { theme } = themes;
    this.theme = theme;
    this.themes = themes;
    this.keys = deps.keys;
    this.reviewKeys = deps.reviewKeys;
    this.access = deps.access;
    this.session = session;
    this.#tty = tty;
    this.#ui = deps.ui;
    this.editorTheme = editorTheme(theme);
    this.screen = new Screen(tty, (error) => deps.log.warn(`drawing failed: ${messageOf(error)}`));
    this.look = {
      theme,
      markdown: markdownTheme(theme),
      now: () => performance.now(),
      cwd: session.cwd,
      ...extensionDrawing(session, deps.log),
      areToolsUnfolded: false,
      areThoughtsUnfolded: false,
    };
    this.editor = createEditor(this);
    deps.applyQuestions?.answerWith(async (question, signal) =>
      (await import("./review/open-review.js")).askInReview(this, question, signal),
    );
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
    this.chat.add({ kind: "header", text: headerText(this.session, this.access), isFinal: true });
    this.#branch = this.access.branch();
    this.chat.restore(this.session.messages, { pendingIds: pendingIdsOf(this.session) });
    this.session.subscribe((event) => this.#take(event));
    this.#ui.attach(this, { isFree: () => !this.#dialog && !this.#view });
    bindKeys(this);
    this.#ui.bindShortcuts(this);
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
    this.#ui.questions.close();
    void this.screen.leave().finally(() => this.#leave(leaving));
  }

  /** What the user typed is a command, a prompt, or a message for the run under way. */
  send(text: string, kind: "steer" | "followUp" = "steer"): void {
    const said = text.trim();
    if (said === "") return;
    this.editor.addToHistory(said);
    if (text.startsWith("/")) return this.#report(runCommand(this, said));
    if (text.startsWith("!")) return this.#report(runBash(this, said).finally(() => this.#look()));
    this.#report(this.#prompt(said, kind));
  }

  get hasDialog(): boolean {
    return this.#dialog !== undefined;
  }

  addBlock(item: ChatItem): void {
    this.chat.add(item);
    this.draw();
  }

  restart(note: string, { maxBlocks }: { maxBlocks?: number } = {}): void {
    this.chat.restart(note, this.session.messages, { maxBlocks, pendingIds: pendingIdsOf(this.session) });
    this.#tty.setTitle(`galley - ${oneLine(this.session.sessionName ?? this.access.directory, 80)}`);
    this.refreshPending();
    this.draw();
  }

  takeBackQueue(): boolean {
    const { steering, followUp } = this.session.clearQueue();
    const texts = [...steering, ...followUp];
    if (texts.length === 0) return false;
    const typed = this.editor.getExpandedText();
    this.editor.setText([...texts, ...(typed.trim() === "" ? [] : [typed])].join("\n\n"));
    this.draw();
    return true;
  }

  copy(text: string): void {
    this.#tty.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  /** The branch may have changed. */
  #look(): void {
    this.#branch = this.access.branch();
    this.draw();
  }

  notice(level: "info" | "warning" | "error", text: string): void {
    this.chat.notice(level, text);
    this.draw();
  }

  hint(text: string, forMs: number): void {
    this.#hint = text;
    setTimeout(() => {
      this.#hint = undefined;
      this.draw();
    }, forMs).unref();
    this.draw();
  }

  /** Everything that is kept as lines is old: the colours have changed. */
  redraw(): void {
    for (const block of this.screen.chat) block.invalidate();
    this.draw();
  }

  openView(view: FullView): void {
    this.#view = view;
    this.onView();
    this.screen.openFull(new FullScreen(this.#tty, view));
  }

  closeView(): void {
    this.#view = undefined;
    this.screen.closeFull();
    this.#ui.questions.advance();
    this.refreshPending();
  }

  showDialog(dialog: Component | undefined): void {
    this.#dialog = dialog;
    this.#notifier.questionWaits(dialog !== undefined);
    if (dialog && this.#tty.hasMouse) this.#tty.switchOn("mouse", mouseOn, mouseOff);
    else this.#tty.switchOff("mouse");
    this.screen.setFocus(dialog ?? this.input);
    this.draw();
    if (!dialog) this.#ui.questions.advance();
  }

  get input(): EditorComponent {
    return this.#replaced ?? this.editor;
  }

  useEditor(editor: EditorComponent | undefined): void {
    const text = this.input.getText();
    this.#replaced = editor;
    if (editor) editor.onSubmit = (said) => this.send(said);
    this.input.setText(text);
    if (!this.#dialog) this.screen.setFocus(this.input);
    this.draw();
  }

  readonly refreshPending = oneAtATime(async () => {
    try {
      this.#pending = await this.session.getPendingActions();
      this.chat.markPending(this.#pending.map(({ id }) => id));
      this.draw();
    } catch (error) {
      this.notice("error", messageOf(error));
    }
  });

  draw(): void {
    for (const item of this.chat.items.slice(this.#drawn)) this.screen.chat.push(new BlockView(item, this.look));
    this.#drawn = this.chat.items.length;
    this.screen.requestRender();
  }

  async #prompt(text: string, kind: "steer" | "followUp"): Promise<void> {
    const images = this.attachments.in(text);
    const { model } = this.session;
    if (images.length > 0 && model && !model.input.includes("image"))
      this.notice("warning", `${model.provider}/${model.id} takes no images. It is told that one was left out.`);
    // A command of an extension or a template stands at the very beginning; this is a text, whatever it looks like.
    const options = { images, source: "interactive", streamingBehavior: kind, expandPromptTemplates: false } as const;
    await this.session.prompt(text.startsWith("/") ? ` ${text}` : text, options);
  }

  #take(event: AgentSessionEvent): void {
    this.chat.apply(event);
    this.#doing.apply(event);
    if (event.type.startsWith("pending_action")) this.refreshPending();
    if (event.type === "agent_start") {
      this.#ticker ??= setInterval(() => this.draw(), tickMs);
      this.#notifier.runStarted();
    }
    if (event.type === "agent_settled") {
      this.#notifier.runEnded();
      clearInterval(this.#ticker);
      this.#ticker = undefined;
      this.#look();
    }
    this.draw();
  }

  #bottom(): Component {
    const { theme } = this;
    return {
      invalidate: () => {},
      render: (width) => [
        "",
        // While a question waits, Esc is an answer to it and does not stop the run.
        ...(this.#dialog ? [] : workingLine(this.session, this.#saying, theme, width)),
        ...todoLines(this.session, theme, width),
        ...queuedLines(this.session, this.keys["app.message.dequeue"][0], theme, width),
        ...this.#ui.slots.widgets("above", width),
        ...this.above.flatMap((part) => part.render(width)),
        ...(this.#hint === undefined ? [] : [theme.fg("muted", ` ${this.#hint}`)]),
        ...pendingLine(this.#pending, theme, width),
        ...(this.#dialog ?? this.input).render(width),
        ...(this.#dialog ? [] : this.#ui.slots.widgets("below", width)),
        ...(this.#ui.slots.footer(width) ??
          footerLines(
            {
              session: this.session,
              access: accessText(this.session, theme),
              directory: this.access.directory,
              branch: this.#branch,
              pending: this.#pending.length,
              warnings: [...approvalWarnings(this.session), ...sessionWarnings(this.session)],
            },
            theme,
            width,
          )),
        ...this.#ui.slots.statusLine(theme, width),
      ],
    };
  }

  get #saying(): Saying {
    return { doing: this.#doing, message: this.#ui.slots.workingMessage };
  }

  #report(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.notice("error", sanitizeForTerminal(messageOf(error))));
  }
}

function pendingIdsOf({ pendingActions }: AgentSession): string[] {
  return pendingActions.map(({ id }) => id);
}
