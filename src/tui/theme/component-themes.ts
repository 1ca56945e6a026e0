// Our theme in the forms that the library's components take.

import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui";
import { highlight, languageOf } from "../../render/highlight.js";
import type { Theme } from "../../sdk/index.js";

export function selectListTheme(theme: Theme): SelectListTheme {
  return {
    selectedPrefix: (text) => theme.fg("accent", text),
    selectedText: (text) => theme.fg("accent", theme.bold(text)),
    description: (text) => theme.fg("muted", text),
    scrollInfo: (text) => theme.fg("muted", text),
    noMatch: (text) => theme.fg("muted", text),
  };
}

export function editorTheme(theme: Theme): EditorTheme {
  return { borderColor: (text) => theme.fg("border", text), selectList: selectListTheme(theme) };
}

export function markdownTheme(theme: Theme): MarkdownTheme {
  const colour = (name: string) => (text: string) => theme.fg(name, text);
  return {
    heading: (text) => theme.bold(theme.fg("mdHeading", text)),
    link: colour("mdLink"),
    linkUrl: colour("mdLinkUrl"),
    code: colour("mdCode"),
    codeBlock: colour("mdCodeBlock"),
    codeBlockBorder: colour("mdCodeBlockBorder"),
    quote: colour("mdQuote"),
    quoteBorder: colour("mdQuoteBorder"),
    hr: colour("mdHr"),
    listBullet: colour("mdListBullet"),
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: theme.strikethrough,
    underline: theme.underline,
    highlightCode: (code, language) => highlightLines(code, language, theme),
  };
}

const tokenColours = {
  keyword: "syntaxKeyword",
  string: "syntaxString",
  comment: "syntaxComment",
  number: "syntaxNumber",
  name: "syntaxFunction",
  type: "syntaxType",
  meta: "syntaxComment",
} as const;

/** A token over several lines is painted line by line: each is drawn by itself. */
export function highlightLines(code: string, language: string | undefined, theme: Theme): string[] {
  let painted = "";
  let at = 0;
  for (const { start, end, kind } of highlight(code, language && languageOf(language))) {
    const lines = code.slice(start, end).split("\n");
    painted += code.slice(at, start) + lines.map((line) => theme.fg(tokenColours[kind], line)).join("\n");
    at = end;
  }
  return (painted + code.slice(at)).split("\n");
}
