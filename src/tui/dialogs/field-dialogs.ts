// Questions with a list or a field: what extensions and the tool `ask` ask. Everything in them is cleaned first.

import { type Component, Editor, Input, SelectList, type TUI } from "@earendil-works/pi-tui";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { editorTheme, selectListTheme } from "../theme/component-themes.js";
import type { Dialog } from "./question-queue.js";

export interface FieldPlace {
  readonly theme: Theme;
  readonly screen: TUI;
  waiting(): number;
}

export interface FieldText {
  readonly title: string;
  readonly helpText?: string | undefined;
}

/** `undefined`: the user chose nothing. */
export type Close = (answer: string | undefined) => void;

type SelectOption = string | { readonly label: string; readonly description?: string };

export function selectDialog(
  text: FieldText & { readonly options: readonly SelectOption[]; readonly initialIndex?: number | undefined },
  place: FieldPlace,
  close: Close,
): Dialog {
  const rows = Math.max(3, place.screen.terminal.rows - 14);
  const items = text.options.map((option, index) => {
    const { label, description } = typeof option === "string" ? { label: option, description: undefined } : option;
    const clean = description === undefined ? {} : { description: oneLine(description, 400) };
    return { value: String(index), label: oneLine(label, 400), ...clean };
  });
  const list = new SelectList(items, rows, selectListTheme(place.theme));
  if (text.initialIndex !== undefined) list.setSelectedIndex(text.initialIndex);
  list.onSelect = ({ value }) => {
    const chosen = text.options[Number(value)];
    close(typeof chosen === "string" ? chosen : chosen?.label);
  };
  list.onCancel = () => close(undefined);
  return framed(text, list, { place, hint: "↑↓ choose   Enter takes it   Esc nothing" });
}

export function inputDialog(
  text: FieldText & { readonly placeholder?: string | undefined },
  place: FieldPlace,
  close: Close,
): Dialog {
  const input = new Input();
  input.focused = true;
  input.onSubmit = close;
  input.onEscape = () => close(undefined);
  const example = text.placeholder ? ` (${oneLine(text.placeholder, 200)})` : "";
  return framed(text, input, { place, hint: `Enter sends${example}   Esc nothing` });
}

export function editorDialog(
  text: FieldText & { readonly prefill?: string | undefined },
  place: FieldPlace,
  close: Close,
): Dialog {
  const editor = new Editor(place.screen, editorTheme(place.theme), { paddingX: 1 });
  editor.focused = true;
  editor.setText(sanitizeForTerminal(text.prefill ?? ""));
  editor.onSubmit = close;
  const framing = framed(text, editor, { place, hint: "Enter sends   Shift+Enter new line   Esc nothing" });
  return {
    ...framing,
    handleInput(data) {
      if (data === "\u001b" || data === "\u001b[27u") close(undefined);
      else editor.handleInput(data);
    },
  };
}

function framed(
  { title, helpText }: FieldText,
  field: Component,
  { place, hint }: { place: FieldPlace; hint: string },
): Dialog {
  const { theme } = place;
  return {
    invalidate: () => field.invalidate(),
    handleInput: (data) => field.handleInput?.(data),
    render(width) {
      const more = place.waiting() > 0 ? `   ${place.waiting()} more wait${place.waiting() === 1 ? "s" : ""}` : "";
      const head = sanitizeForTerminal(title).split("\n");
      return [
        theme.fg("border", "─".repeat(width)),
        ...head.map((line) => ` ${theme.bold(theme.fg("accent", line))}`),
        ...(helpText ? [` ${theme.fg("muted", oneLine(helpText, 400))}`] : []),
        ...field.render(width - 2).map((line) => ` ${line}`),
        cutTo(` ${theme.fg("muted", hint + more)}`, width),
        theme.fg("border", "─".repeat(width)),
      ];
    },
  };
}
