// The text of a `.env` file as names and values. A small language on purpose: one line each, quotes, comments; nothing
// is expanded and nothing is run.

const maxChars = 256 * 1024;
const maxShownLines = 5;

/** A line that is not understood is left out; `problem` names it by number only: it may hold a key. */
export function parseEnvFile(text: string): { values: ReadonlyMap<string, string>; problem?: string } {
  if (text.length > maxChars) return { values: new Map(), problem: `is longer than ${maxChars} characters; not used` };
  const values = new Map<string, string>();
  const bad: number[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const pair = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line);
    const value = pair?.[2] === undefined ? undefined : readValue(pair[2]);
    if (pair?.[1] === undefined || value === undefined) bad.push(index + 1);
    else values.set(pair[1], value);
  }
  return bad.length === 0 ? { values } : { values, problem: lineProblem(bad) };
}

function readValue(text: string): string | undefined {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") {
    const value = text.replace(/(^|\s)#.*$/, "").trim();
    return hasControls(value) ? undefined : value;
  }
  // Between single quotes everything is literal; between double ones a backslash changes the next character.
  const quoted = quote === "'" ? /^'([^']*)'\s*(?:#.*)?$/ : /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/;
  const inner = quoted.exec(text)?.[1];
  if (inner === undefined || hasControls(inner)) return undefined;
  return quote === "'" ? inner : inner.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function hasControls(text: string): boolean {
  return /[^\P{Cc}\t]/u.test(text);
}

function lineProblem(lines: readonly number[]): string {
  const shown = lines.slice(0, maxShownLines).join(", ");
  const more = lines.length > maxShownLines ? ` and ${lines.length - maxShownLines} more` : "";
  return `line ${shown}${more}: expected NAME=value`;
}
