// Colours as escape sequences, for as many colours as the terminal has. Without colours bold and inverse stay.

import { plainTheme, type Theme } from "../../sdk/index.js";
import { type Colours, sixteen } from "./colours.js";

export type ColourDepth = "truecolor" | "256" | "16" | "none";

/** What a terminal can show, by what its environment says. */
export function colourDepth(env: Readonly<Record<string, string | undefined>>): ColourDepth {
  const { NO_COLOR, COLORTERM = "", TERM = "" } = env;
  if (NO_COLOR !== undefined) return "none";
  if (/truecolor|24bit/i.test(COLORTERM)) return "truecolor";
  return /256/.test(TERM) ? "256" : "16";
}

export function createTheme({ name, colours }: { name: string; colours: Colours }, depth: ColourDepth): Theme {
  const code = (name: string, isBackground: boolean) => codeOf(colours, { name, depth, isBackground });
  const wrap = (on: string, off: string) => (text: string) => (text === "" || on === "" ? text : on + text + off);
  const front = memoized((name) => code(name, false));
  const back = memoized((name) => code(name, true));
  return {
    ...plainTheme,
    name,
    fg: (name, text) => wrap(front(name), "\u001b[22;39m")(text),
    bg: (name, text) => wrap(back(name), "\u001b[49m")(text),
    bold: wrap("\u001b[1m", "\u001b[22m"),
    italic: wrap("\u001b[3m", "\u001b[23m"),
    underline: wrap("\u001b[4m", "\u001b[24m"),
    strikethrough: wrap("\u001b[9m", "\u001b[29m"),
    inverse: wrap("\u001b[7m", "\u001b[27m"),
    getFgAnsi: front,
    getBgAnsi: back,
    getColorMode: () => (depth === "truecolor" ? "truecolor" : "256color"),
  };
}

function memoized(find: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

interface Wanted {
  readonly name: string;
  readonly depth: ColourDepth;
  readonly isBackground: boolean;
}

function codeOf(colours: Colours, { name, depth, isBackground }: Wanted): string {
  if (depth === "none") return "";
  // Backgrounds of sixteen colours would be too loud.
  if (depth === "16") return isBackground || !Object.hasOwn(sixteen, name) ? "" : `\u001b[${sixteen[name]}m`;
  const value = Object.hasOwn(colours, name) ? colours[name] : undefined;
  if (value === undefined || value === "") return "";
  const kind = isBackground ? 48 : 38;
  if (typeof value === "number") return `\u001b[${kind};5;${value}m`;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(value.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  if (depth === "truecolor") return `\u001b[${kind};2;${red};${green};${blue}m`;
  return `\u001b[${kind};5;${nearestOf256(red, green, blue)}m`;
}

/** Of the cube of 6 x 6 x 6 and the 24 greys. */
function nearestOf256(red: number, green: number, blue: number): number {
  const steps = [0, 95, 135, 175, 215, 255];
  const step = (value: number) =>
    steps.reduce(
      (best, each, index) => (Math.abs(each - value) < Math.abs((steps[best] ?? 0) - value) ? index : best),
      0,
    );
  const [r, g, b] = [step(red), step(green), step(blue)];
  const grey = Math.max(0, Math.min(23, Math.round(((red + green + blue) / 3 - 8) / 10)));
  const distance = (r2: number, g2: number, b2: number) => (red - r2) ** 2 + (green - g2) ** 2 + (blue - b2) ** 2;
  const level = 8 + 10 * grey;
  const isGreyNearer = distance(level, level, level) < distance(steps[r] ?? 0, steps[g] ?? 0, steps[b] ?? 0);
  return isGreyNearer ? 232 + grey : 16 + 36 * r + 6 * g + b;
}
