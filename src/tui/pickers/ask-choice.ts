// Small questions that a list or a command asks: one line of text, or one of a few keys. Esc is no answer.

import { type Component, getKeybindings, Input, matchesKey, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { TerminalApp } from "../terminal-app.js";

/** Undefined when it was left with Esc. The editor is back then, until the caller shows something else. */
export function askLine(app: TerminalApp, title: string, initial = ""): Promise<string | undefined> {
  return new Promise((resolve) => {
    const input = new Input();
    input.setValue(initial);
    input.focused = true;
    const end = (text: string | undefined) => {
      app.showDialog(undefined);
      resolve(text);
    };
    input.onSubmit = (text) => end(text.trim());
    input.onEscape = () => end(undefined);
    app.showDialog(framed(app, title, "enter: take it · esc: back", input));
  });
}

/** One of these keys; undefined when it was left with Esc. */
export function askKey<K extends string>(
  app: TerminalApp,
  question: string,
  choices: Readonly<Record<K, string>>,
): Promise<K | undefined> {
  const hint = [...Object.entries(choices).map(([key, what]) => `${key} ${what}`), "esc back"].join("   ");
  return new Promise((resolve) => {
    const end = (key: K | undefined) => {
      app.showDialog(undefined);
      resolve(key);
    };
    app.showDialog(
      framed(app, question, hint, {
        invalidate() {},
        render: () => [],
        handleInput(data) {
          if (getKeybindings().matches(data, "tui.select.cancel")) return end(undefined);
          const key = (Object.keys(choices) as K[]).find((each) => matchesKey(data, each as "a"));
          if (key !== undefined) end(key);
        },
      }),
    );
  });
}

function framed({ theme }: TerminalApp, title: string, hint: string, inner: Component): Component {
  return {
    invalidate: () => inner.invalidate(),
    handleInput: (data) => inner.handleInput?.(data),
    render: (width) => {
      const edge = theme.fg("border", "─".repeat(width));
      const text = wrapTextWithAnsi(title, Math.max(1, width - 2)).map((line) => ` ${line}`);
      return [edge, ...text, ...inner.render(width), ` ${theme.fg("muted", hint)}`, edge];
    },
  };
}
