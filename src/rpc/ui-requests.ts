// What an extension may call on its `ui`, as frames for the host. Extensions may be plain JavaScript, so whatever they
// pass is converted to what the frame has to hold; what a host cannot show is dropped.

import type { TypedObject } from "../base/ndjson.js";
import type { ExtensionUiRequest } from "../protocol/frames.js";
import type { SessionUI } from "../sdk/index.js";

/** A request without the members that every request has. */
export type Shown = ExtensionUiRequest extends infer Request
  ? Request extends object
    ? Omit<Request, "type" | "id">
    : never
  : never;

export type DialogOptions = NonNullable<Parameters<NonNullable<SessionUI["confirm"]>>[2]>;

export interface Dialog<Answer> {
  readonly request: Shown;
  /** The default where there is no answer. */
  readonly none: Answer;
  /** Of a response that was not cancelled. */
  take(frame: TypedObject): Answer;
}

export interface RequestDeps {
  /** Titles are for hosts that asked for them. */
  readonly emitsTitle: boolean;
  show(request: Shown): void;
  ask<Answer>(extra: DialogOptions | undefined, dialog: Dialog<Answer>): Promise<Answer>;
}

export function requestingUi({ emitsTitle, show, ask }: RequestDeps): SessionUI {
  const askText = (extra: DialogOptions | undefined, request: Shown) =>
    ask<string | undefined>(extra, {
      request,
      none: undefined,
      take: ({ value }) => (typeof value === "string" ? value : undefined),
    });
  return {
    select: (title, options, extra) => {
      const details = options.map((option) => (typeof option === "string" ? undefined : option.description));
      return askText(extra, {
        method: "select",
        title: textOf(title),
        options: options.map((option) => textOf(typeof option === "string" ? option : option.label)),
        ...timeoutOf(extra),
        ...(details.some((description) => description !== undefined)
          ? { optionDetails: details.map((given) => (given === undefined ? {} : { description: textOf(given) })) }
          : {}),
      });
    },
    confirm: (title, message, extra) =>
      ask(extra, {
        request: { method: "confirm", title: textOf(title), message: textOf(message), ...timeoutOf(extra) },
        none: false,
        take: ({ confirmed }) => confirmed === true,
      }),
    input: (title, placeholder, extra) =>
      askText(extra, {
        method: "input",
        title: textOf(title),
        ...(placeholder == null ? {} : { placeholder: textOf(placeholder) }),
        ...timeoutOf(extra),
      }),
    // Its timeout is kept here; the frame has no member for it.
    editor: (title, prefill, extra, style) =>
      askText(extra, {
        method: "editor",
        title: textOf(title),
        ...(prefill == null ? {} : { prefill: textOf(prefill) }),
        ...(style?.promptStyle === undefined ? {} : { promptStyle: style.promptStyle === true }),
      }),
    notify: (message, kind) =>
      show({ method: "notify", message: textOf(message), ...(isNotifyType(kind) ? { notifyType: kind } : {}) }),
    setStatus: (key, text) =>
      show({ method: "setStatus", statusKey: textOf(key), ...(text == null ? {} : { statusText: lineOf(text) }) }),
    setWidget: (key, content, options) => {
      if (content != null && !Array.isArray(content)) return; // a component needs a terminal, and there is none
      const placement = options?.placement;
      show({
        method: "setWidget",
        widgetKey: textOf(key),
        ...(content == null ? {} : { widgetLines: content.map(textOf) }),
        ...(placement === "aboveEditor" || placement === "belowEditor" ? { widgetPlacement: placement } : {}),
      });
    },
    setTitle: (title) => {
      if (emitsTitle) show({ method: "setTitle", title: textOf(title) });
    },
    setEditorText: (text) => show({ method: "set_editor_text", text: textOf(text) }),
    pasteToEditor: (text) => show({ method: "set_editor_text", text: textOf(text) }),
    setTheme: () => ({ success: false, error: "Theme switching not supported in RPC mode" }),
  };
}

/** The longest time that a timer can hold. */
const longestMs = 2 ** 31 - 1;

/** Whole milliseconds, since strict hosts accept no others. An infinite time is no timeout. */
export function timeoutOf(extra: DialogOptions | undefined): { timeout?: number } {
  const { timeout } = extra ?? {};
  if (typeof timeout !== "number" || !Number.isFinite(timeout) || timeout <= 0) return {};
  return { timeout: Math.min(Math.ceil(timeout), longestMs) };
}

function isNotifyType(kind: unknown): kind is "info" | "warning" | "error" {
  return kind === "info" || kind === "warning" || kind === "error";
}

/** For one line of a screen: characters that would move the cursor, or worse, become a space. Colours stay. */
function lineOf(value: unknown): string {
  return textOf(value).replace(/\p{Cc}(\[[\d;]*m)?/gu, (found, rest = "") =>
    found.startsWith("\u001b[") ? found : ` ${rest}`,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : String(value ?? "");
}
