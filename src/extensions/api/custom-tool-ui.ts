// `pi.ui`: one object for the whole life of a session. Behind it is the front end or host that can ask the user at the
// moment. Without one, every question has a plain answer. A question always ends.

import { linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { plainTheme, type Theme } from "../compat/theme.js";
import { currentModule, type GuardedModule, runAsHost } from "../load/load-guard.js";

export interface ToolDialogOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds. */
  timeout?: number | undefined;
  onTimeout?(): void;
  initialIndex?: number | undefined;
  helpText?: string | undefined;
}

export type SelectOption = string | { label: string; description?: string };

/** What a front end or a host implements, as far as it can. */
export interface ToolUI {
  select(title: string, options: readonly SelectOption[], extra?: ToolDialogOptions): Promise<string | undefined>;
  confirm(title: string, message: string, extra?: ToolDialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, extra?: ToolDialogOptions): Promise<string | undefined>;
  editor(
    title: string,
    prefill?: string,
    extra?: ToolDialogOptions,
    style?: { promptStyle?: boolean },
  ): Promise<string | undefined>;
  notify(message: string, kind?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, content: unknown, options?: { placement?: "aboveEditor" | "belowEditor" }): void;
  setTitle(text: string): void;
  setEditorText(text: string): void;
  pasteToEditor(text: string): void;
  getEditorText(): string;
  custom(factory: unknown, options?: { overlay?: boolean }): Promise<unknown>;
  setWorkingMessage(message?: string): void;
  setFooter(factory: unknown): void;
  setHeader(factory: unknown): void;
  setEditorComponent(factory: unknown): void;
  onTerminalInput(handler: unknown): () => void;
  readonly theme: Theme;
  getAllThemes(): readonly unknown[];
  getTheme(name: string): unknown;
  setTheme(theme: unknown): { success: boolean; error?: string };
  getToolsExpanded(): boolean;
  setToolsExpanded(isExpanded: boolean): void;
  setWorkingVisible(isVisible: boolean): void;
  setWorkingIndicator(options?: object): void;
  setHiddenThinkingLabel(label?: string): void;
  addAutocompleteProvider(factory: unknown): void;
  getEditorComponent(): unknown;
}

export interface LiveUI {
  readonly ui: ToolUI;
  readonly hasUI: boolean;
  set(ui: Partial<ToolUI> | undefined, hasUI: boolean): void;
}

const nothing = () => undefined;

/** The answers while no user can be asked. */
const absent: { readonly [Method in Exclude<keyof ToolUI, "theme">]: () => unknown } = {
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  notify: nothing,
  setStatus: nothing,
  setWidget: nothing,
  setTitle: nothing,
  setEditorText: nothing,
  pasteToEditor: nothing,
  getEditorText: () => "",
  custom: async () => undefined,
  setWorkingMessage: nothing,
  setFooter: nothing,
  setHeader: nothing,
  setEditorComponent: nothing,
  onTerminalInput: () => nothing,
  getAllThemes: () => [],
  getTheme: nothing,
  setTheme: () => ({ success: false, error: "UI not available" }),
  getToolsExpanded: () => false,
  setToolsExpanded: nothing,
  setWorkingVisible: nothing,
  setWorkingIndicator: nothing,
  setHiddenThinkingLabel: nothing,
  addAutocompleteProvider: nothing,
  getEditorComponent: nothing,
};

export const uiMembers: readonly string[] = [...Object.keys(absent), "theme"];

/** The index of a dialog's options among its arguments. */
const dialogs: Record<string, number> = { select: 2, confirm: 2, input: 2, editor: 2 };

type AnyFunction = (...args: unknown[]) => unknown;

interface Question {
  readonly name: string;
  /** The index of its options. */
  readonly at: number;
  readonly args: unknown[];
  /** After this the caller no longer needs the answer. */
  readonly until: AbortSignal | undefined;
}

export function createLiveUI({ clock, log }: { clock: Clock; log: Log }): LiveUI {
  let current: Record<string, unknown> = {};
  let hasUI = false;
  const methods = new Map<string, AnyFunction>();
  const complain = (name: string, error: unknown) => log.warn(`ui.${name} failed: ${messageOf(error)}`);

  const call = (name: string, args: unknown[], running: GuardedModule | undefined): unknown => {
    const fallback = (absent as Record<string, AnyFunction | undefined>)[name];
    const method = current[name];
    if (typeof method !== "function") {
      return fallback?.();
    }
    try {
      const at = dialogs[name];
      if (at !== undefined) return ask({ name, at, args, until: running?.signal });
      return method.apply(current, args);
    } catch (error) {
      complain(name, error);
      return fallback?.();
    }
  };

  /** Ends when the user answers, the signal fires or the time is up, whatever the implementation does. */
  const ask = ({ name, at, args, until }: Question): Promise<unknown> => {
    const given = (args[at] ?? {}) as ToolDialogOptions;
    const none = name === "confirm" ? false : undefined;
    const { timeout } = given;
    const link = linkAbort(given.signal, until);
    const { signal } = link;
    if (signal.aborted) return Promise.resolve(none);
    return new Promise((resolve) => {
      let isTold = false;
      const onTimeout = () => {
        if (isTold) return;
        isTold = true;
        try {
          given.onTimeout?.();
        } catch (error) {
          complain(name, error); // the dialog is over all the same
        }
      };
      const end = (answer: unknown) => {
        link.release();
        cancel();
        resolve(answer);
      };
      const onAbort = () => end(none);
      signal.addEventListener("abort", onAbort, { once: true });
      const isTimed = timeout !== undefined && timeout > 0;
      const cancel = isTimed
        ? clock.after(
            timeout,
            () => {
              onTimeout();
              end(none);
            },
            { isAwaited: true },
          )
        : nothing;
      const passed = [...args];
      passed[at] = { ...given, signal, ...(given.onTimeout ? { onTimeout } : {}) };
      const answer = (async () => (current[name] as AnyFunction).apply(current, passed))();
      answer.then(end, (error: unknown) => {
        complain(name, error);
        end(none);
      });
    });
  };

  /** Modules ask for a method before they call it. */
  const isThere = (name: string) => uiMembers.includes(name) || typeof current[name] === "function";
  const ui: ToolUI = new Proxy({} as ToolUI, {
    get(_target, name) {
      if (typeof name === "symbol" || name === "then") return undefined; // so that it can be awaited and printed
      if (name === "theme") return current.theme ?? plainTheme;
      if (!isThere(name)) return undefined;
      const known =
        methods.get(name) ??
        ((...args: unknown[]) => {
          const running = currentModule();
          const answer = runAsHost(() => call(name, args, running));
          if (answer instanceof Promise) running?.patience?.hold(answer); // the user's time is not the extension's
          return answer;
        });
      methods.set(name, known);
      return known;
    },
    has: (_target, name) => typeof name === "string" && isThere(name),
    ownKeys: () => uiMembers,
    getOwnPropertyDescriptor: (_target, name) =>
      isThere(String(name)) ? { configurable: true, enumerable: true, value: Reflect.get(ui, name) } : undefined,
  });
  return {
    ui,
    get hasUI() {
      return hasUI;
    },
    set(next, has) {
      current = (next ?? {}) as Record<string, unknown>;
      hasUI = has;
    },
  };
}
