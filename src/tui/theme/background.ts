// Whether the terminal's background is light: by its own answer to OSC 11, by what the environment says, or unknown.

export type Background = "dark" | "light";

/** Asks for the colour of the background. */
export const backgroundQuestion = "\u001b]11;?\u0007";
const prefix = "\u001b]11;";

/** The answer, `ESC ] 11 ; rgb:rrrr/gggg/bbbb`, ended by BEL or ST. Undefined: it is something else. */
export function backgroundAnswer(sequence: string): Background | undefined {
  const found = /^rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(sequence.slice(prefix.length));
  if (!found || !sequence.startsWith(prefix)) return undefined;
  const [red, green, blue] = found
    .slice(1)
    .map((digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1)) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 ? "light" : "dark";
}

/** `COLORFGBG=15;0`: the last number is the background, 7 and 9 to 15 are light. */
export function backgroundOf(env: Readonly<Record<string, string | undefined>>): Background | undefined {
  const last = env.COLORFGBG?.split(";").at(-1);
  if (last === undefined || !/^\d+$/.test(last)) return undefined;
  const colour = Number(last);
  return colour === 7 || (colour >= 9 && colour <= 15) ? "light" : "dark";
}
