// What a session and its extensions can do with the user of this terminal. Made before the session; questions that come
// before there is a screen wait for it.

import { type Component, getKeybindings, matchesKey } from "@earendil-works/pi-tui";
import { messageOf } from "../../base/errors.js";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import {
  type CallAnswer,
  type CallQuestion,
  type EscalationQuestion,
  escalationLines,
  plainTheme,
  type SessionUI,
  type Theme,
  type TrustQuestion,
} from "../../sdk/index.js";
import {
  askCall,
  askEscalation,
  askHost,
  askTrust,
  askYesOrNo,
  type HostAnswer,
  type TrustAnswer,
} from "../dialogs/ask-user.js";
import { editorDialog, inputDialog, selectDialog } from "../dialogs/field-dialogs.js";
import type { DialogPlace } from "../dialogs/question-dialog.js";
import { QuestionQueue } from "../dialogs/question-queue.js";
import type { TerminalApp } from "../terminal-app.js";
import { builtInThemes } from "../theme/colours.js";
import { createTheme } from "../theme/theme.js";
import { terminalComponents } from "./components.js";
import { HostedComponent } from "./hosted-component.js";
import { moduleScreen } from "./module-screen.js";
import { Slots } from "./slots.js";

/** When a question is taken away: it is no longer wanted, or its time is up. */
function endOf(
  extra: { signal?: AbortSignal | undefined; timeout?: number | undefined } = {},
): AbortSignal | undefined {
  const { signal, timeout } = extra;
  if (timeout === undefined || timeout <= 0) return signal;
  return AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeout)]);
}

/** What a module passes to `custom`. */
type CustomFactory = (...args: unknown[]) => unknown;

export class TerminalUI {
  readonly questions: QuestionQueue;
  readonly slots: Slots;
  readonly #log: { warn(text: string): void };
  #app: TerminalApp | undefined;
  #onAttached: (app: TerminalApp) => void = () => {};
  readonly #attached = new Promise<TerminalApp>((resolve) => {
    this.#onAttached = resolve;
  });

  constructor({ log, now = () => performance.now() }: { log: { warn(text: string): void }; now?: () => number }) {
    this.#log = log;
    this.questions = new QuestionQueue(now);
    this.slots = new Slots({
      log,
      draw: () => this.#app?.draw(),
      factoryArguments: () => [this.#screen(), this.#theme, getKeybindings()],
    });
  }

  /** Call it before other keys are bound: a question has the keys first. */
  attach(app: TerminalApp, { isFree }: { isFree(): boolean }): void {
    this.#app = app;
    app.screen.addInputListener((data) => {
      if (this.questions.handleInput(data)) {
        app.draw();
        return { consume: true };
      }
      return undefined;
    });
    this.questions.attach({ show: (dialog) => app.showDialog(dialog), isFree, leave: () => app.leave({ code: 0 }) });
    this.#onAttached(app);
  }

  readonly askCall = async (question: CallQuestion): Promise<CallAnswer> => {
    const app = await this.#attached;
    const answer = askCall(this.questions, this.#place(app), { ...question, directory: app.access.directory });
    return app.chat.whileAsked(question.toolCallId, answer);
  };

  readonly askEscalation = async (question: EscalationQuestion): Promise<boolean> => {
    const app = await this.#attached;
    const cwd = question.cwd === app.session.cwd ? app.access.directory : question.cwd;
    const lines = escalationLines({ ...question, cwd });
    const answer = askEscalation(this.questions, this.#place(app), { lines, signal: question.signal });
    return app.chat.whileAsked(question.toolCallId, answer);
  };

  readonly askHost = async (host: string, signal: AbortSignal): Promise<HostAnswer> =>
    askHost(this.questions, this.#place(await this.#attached), { host, signal });

  readonly askTrust = async (question: TrustQuestion, signal: AbortSignal): Promise<TrustAnswer> => {
    const app = await this.#attached;
    return askTrust(this.questions, this.#place(app), { ...question, signal });
  };

  readonly components = async (): Promise<object> => terminalComponents((await this.#attached).theme);

  /** The keys of extensions, after ours: one that we use stays ours. */
  bindShortcuts(app: TerminalApp): void {
    const isOurs = (key: string) => Object.values(app.keys).some((keys) => keys.some((own) => own === key));
    app.screen.addInputListener((data) => {
      const found = app.session.shortcuts().find(({ key }) => !isOurs(key) && matchesKey(data, key as "a"));
      found?.run();
      return found ? { consume: true } : undefined;
    });
  }

  /** Every method that extensions know. */
  get session(): SessionUI {
    const { questions, slots } = this;
    const withApp = (work: (app: TerminalApp) => void) => void this.#attached.then(work);
    const self = this;
    return {
      select: async (title, options, extra) => {
        const place = await this.#fields();
        const text = { title, options, initialIndex: extra?.initialIndex, helpText: extra?.helpText };
        return questions.ask<string | undefined>((close) => selectDialog(text, place, close), {
          none: undefined,
          signal: endOf(extra),
        });
      },
      confirm: async (title, message, extra) =>
        askYesOrNo(questions, this.#place(await this.#attached), { title, message, signal: endOf(extra) }),
      input: async (title, placeholder, extra) => {
        const place = await this.#fields();
        const text = { title, placeholder, helpText: extra?.helpText };
        return questions.ask<string | undefined>((close) => inputDialog(text, place, close), {
          none: undefined,
          signal: endOf(extra),
        });
      },
      editor: async (title, prefill, extra) => {
        const place = await this.#fields();
        const text = { title, prefill, helpText: extra?.helpText };
        return questions.ask<string | undefined>((close) => editorDialog(text, place, close), {
          none: undefined,
          signal: endOf(extra),
        });
      },
      notify: (message, kind = "info") => withApp((app) => app.notice(kind, sanitizeForTerminal(String(message)))),
      setStatus: (key, text) => slots.setStatus(key, text),
      setWidget: (key, content, options) => slots.setWidget(key, content, options?.placement === "belowEditor"),
      setTitle: (text) => withApp((app) => app.screen.terminal.setTitle(oneLine(text, 200))),
      setEditorText: (text) => withApp((app) => app.input.setText(sanitizeForTerminal(text))),
      pasteToEditor: (text) =>
        withApp((app) => app.input.handleInput(`\u001b[200~${sanitizeForTerminal(text)}\u001b[201~`)),
      getEditorText: () => this.#app?.input.getText() ?? "",
      custom: (factory) => this.#custom(factory as CustomFactory),
      setWorkingMessage: (message) => slots.setWorkingMessage(message),
      setFooter: (factory) => withApp(() => slots.setFooter(factory)),
      setHeader: (factory) => withApp((app) => this.#header(app, factory)),
      setEditorComponent: (factory) => withApp((app) => this.#editorComponent(app, factory)),
      onTerminalInput: (handler) => this.#onInput(handler),
      ...themeMethods(() => this.#app),
      get theme() {
        return self.#theme;
      },
      getToolsExpanded: () => this.#app?.look.areToolsUnfolded ?? false,
      setToolsExpanded: (isExpanded) =>
        withApp((app) => {
          app.look.areToolsUnfolded = isExpanded;
          app.draw();
        }),
    };
  }

  get #theme() {
    return themeMethods.themeOf(this.#app);
  }

  #screen() {
    return this.#app && moduleScreen(this.#app, this.questions, this.#log);
  }

  #place(app: TerminalApp): DialogPlace {
    return {
      theme: app.theme,
      rows: () => app.screen.terminal.rows,
      waiting: () => this.questions.waiting,
      openView: (view) => app.openView(view),
      closeView: () => app.closeView(),
    };
  }

  async #fields() {
    const { theme, screen } = await this.#attached;
    return { theme, screen, waiting: () => this.questions.waiting };
  }

  /** A module's own view in place of the editor, until it calls `done`. */
  async #custom(factory: CustomFactory): Promise<unknown> {
    const app = await this.#attached;
    let hosted: HostedComponent | undefined;
    const screen = moduleScreen(app, this.questions, this.#log, (component) => {
      if (hosted) hosted.focus = component;
    });
    let finish: (answer: unknown) => void = () => {};
    const early = new Promise<unknown>((resolve) => {
      finish = resolve;
    });
    const done = (answer?: unknown) => finish(answer);
    try {
      const rest = factory.length === 3 ? [done] : [getKeybindings(), done];
      const made = await factory(screen, app.theme, ...rest);
      hosted = new HostedComponent(made, { what: "ui.custom", log: this.#log, onFailure: () => finish(undefined) });
    } catch (error) {
      this.#log.warn(`ui.custom failed: ${messageOf(error)}`);
      return undefined;
    }
    const component = hosted;
    const answer = this.questions.ask<unknown>(
      (close) => {
        void early.then(close);
        return component;
      },
      { none: undefined, isCalledUp: true },
    );
    return answer.finally(() => component.dispose());
  }

  #header(app: TerminalApp, factory: unknown): void {
    if (typeof factory !== "function") return;
    try {
      const made: unknown = factory(this.#screen(), app.theme);
      const hosted = new HostedComponent(made, { what: "the header", log: this.#log, onFailure: () => app.draw() });
      app.screen.chat.push({ render: (width) => hosted.render(width), invalidate: () => {}, isFinal: true });
      app.draw();
    } catch (error) {
      this.#log.warn(`the header of an extension failed: ${messageOf(error)}`);
    }
  }

  #editorComponent(app: TerminalApp, factory: unknown): void {
    if (typeof factory !== "function") return app.useEditor(undefined);
    try {
      const made = factory(this.#screen(), app.editorTheme, getKeybindings()) as Component & { setText?: unknown };
      if (typeof made?.render !== "function" || typeof made.setText !== "function")
        throw new TypeError("it must make an editor");
      app.useEditor(made as never);
    } catch (error) {
      this.#log.warn(`the editor of an extension failed: ${messageOf(error)}`);
    }
  }

  #onInput(handler: unknown): () => void {
    let stop: (() => void) | undefined;
    let isOver = false;
    void this.#attached.then((app) => {
      if (isOver || typeof handler !== "function") return;
      stop = app.screen.addInputListener((data) => {
        try {
          return handler(data) ?? undefined;
        } catch (error) {
          stop?.();
          this.#log.warn(`onTerminalInput failed: ${messageOf(error)}`);
          return undefined;
        }
      });
    });
    return () => {
      isOver = true;
      stop?.();
    };
  }
}

// Themes as extensions see them. A chosen theme takes effect at once: the theme in use is one object whose colours change.

function themeMethods(app: () => TerminalApp | undefined) {
  const named = (name: string): Theme | undefined => {
    const colours = Object.hasOwn(builtInThemes, name) ? builtInThemes[name] : undefined;
    return colours && createTheme({ name, colours }, app()?.theme.getColorMode() === "truecolor" ? "truecolor" : "256");
  };
  return {
    getAllThemes: () => Object.keys(builtInThemes).map((name) => ({ name, path: undefined })),
    getTheme: named,
    setTheme(wanted: unknown): { success: boolean; error?: string } {
      const current = app();
      const theme = typeof wanted === "string" ? named(wanted) : (wanted as Theme | undefined);
      if (!current || typeof theme?.fg !== "function")
        return { success: false, error: `Theme not found: ${String(wanted)}` };
      Object.assign(current.theme, theme);
      for (const block of current.screen.chat) block.invalidate();
      current.draw();
      return { success: true };
    },
  };
}

themeMethods.themeOf = (app: TerminalApp | undefined): Theme => app?.theme ?? plainTheme;
