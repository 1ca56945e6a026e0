// A theme from a file, in the format that pi reads: names of colours, with variables. A colour that the file leaves out is
// that of `dark`.

import { isObject } from "../../base/json.js";
import { builtInThemes, type Colours } from "./colours.js";

export type ReadTheme = { readonly colours: Colours } | { readonly problem: string };

export function readTheme(text: string): ReadTheme {
  const file = parsed(text);
  if (!isObject(file)) return { problem: "it is not a JSON object" };
  const { vars = {}, colors } = file;
  if (!isObject(colors)) return { problem: "it has no object of colors" };
  if (!isObject(vars)) return { problem: "vars is not an object" };
  const colours: Record<string, string | number> = { ...builtInThemes.dark };
  for (const [name, value] of Object.entries(colors)) {
    const colour = resolved(value, vars);
    if (colour === undefined) return { problem: `colors.${name} is not a colour: ${JSON.stringify(value)}` };
    colours[name] = colour;
  }
  return { colours };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `#rrggbb`, `#rgb`, a number of 256, empty, or the name of a variable that is one of these. */
function resolved(value: unknown, vars: Readonly<Record<string, unknown>>): string | number | undefined {
  const seen = new Set<string>();
  let at = value;
  while (typeof at === "string" && at !== "" && !at.startsWith("#")) {
    if (seen.has(at) || !Object.hasOwn(vars, at)) return undefined;
    seen.add(at);
    at = vars[at];
  }
  if (at === "") return "";
  if (typeof at === "number") return Number.isInteger(at) && at >= 0 && at <= 255 ? at : undefined;
  if (typeof at !== "string") return undefined;
  if (/^#[0-9a-f]{6}$/i.test(at)) return at;
  return /^#[0-9a-f]{3}$/i.test(at) ? at.replace(/[0-9a-f]/gi, (digit) => digit + digit) : undefined;
}
