// Characters that a person does not see and a model reads. They are taken out of text that is going to instruct a
// model, and counted, so that somebody hears of them.

export interface StrippedText {
  readonly text: string;
  /** What was found, in words: `2 tag characters, 1 zero-width character`. Empty if nothing was. */
  readonly findings: string;
}

const kinds: readonly (readonly [name: string, characters: RegExp])[] = [
  ["tag character", /[\u{e0000}-\u{e007f}]/gu],
  ["zero-width character", /\u180e|\u200b|\u200c|\u200d|[\u2060-\u2064]|\ufeff/g],
  ["bidirectional control", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g],
  // One or two choose how an emoji looks. Last, because what stood between two runs is gone by now.
  ["variation selector", /(?:[\u180b-\u180d\u180f\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]){4,}/gu],
];

/** A byte order mark at the very start is no finding. */
export function stripInvisible(input: string): StrippedText {
  let text = input.startsWith("\ufeff") ? input.slice(1) : input;
  const findings: string[] = [];
  for (const [name, characters] of kinds) {
    let found = 0;
    text = text.replace(characters, (run) => {
      found += [...run].length;
      return "";
    });
    if (found > 0) findings.push(`${found} ${name}${found === 1 ? "" : "s"}`);
  }
  return { text, findings: findings.join(", ") };
}
