// How galley looks, as data: the colours of every surface, and the signs and words of a state. Text passes WCAG 2.2 AA on
// the background it is used on.

export type ColourName =
  | "bg"
  | "surface"
  | "border"
  | "ink"
  | "muted"
  | "accent"
  | "addedBg"
  | "addedInk"
  | "addedWord"
  | "removedBg"
  | "removedInk"
  | "removedWord"
  | "warnInk"
  | "warnBg"
  | "danger"
  | "focus";

export type Palette = Readonly<Record<ColourName, string>>;

export const light: Palette = {
  bg: "#FBFAF6",
  surface: "#F3F1EB",
  border: "#DCD7CB",
  ink: "#1F2328",
  muted: "#5B6068",
  accent: "#7A4A1E",
  addedBg: "#E3F4E7",
  addedInk: "#12492A",
  addedWord: "#B5E3C1",
  removedBg: "#FCE8E8",
  removedInk: "#7F1D1D",
  removedWord: "#F5BDBD",
  warnInk: "#7A4B00",
  warnBg: "#FFF3DB",
  danger: "#A11919",
  focus: "#1A5FD0",
};

export const dark: Palette = {
  bg: "#15171C",
  surface: "#1D2026",
  border: "#363C46",
  ink: "#E8E6E0",
  muted: "#A3A9B2",
  accent: "#E0AC74",
  addedBg: "#11301F",
  addedInk: "#B4E8C2",
  addedWord: "#1F5C38",
  removedBg: "#391A1D",
  removedInk: "#F5B8B8",
  removedWord: "#712D31",
  warnInk: "#F0C36B",
  warnBg: "#332813",
  danger: "#FF9C9C",
  focus: "#86B4FF",
};

export type State = "pending" | "applied" | "discarded" | "stale" | "undone";

/** The sign beside a state's word: colour is never the only one. */
export const stateSigns: Readonly<Record<State, string>> = {
  pending: "◌",
  applied: "✓",
  discarded: "✗",
  stale: "⚠",
  undone: "↺",
};
