// The planner's grammar: one plain sentence to what it asks for. Pure.
//
//   replace PATTERN with REPLACEMENT [in PATHS]      show PATH             undo [CHANGE]
//   rename A to B [in PATHS]                         run COMMAND           help
//   find PATTERN [in PATHS]                          apply [ID]            discard [ID]

export type Sentence =
  | { verb: "replace" | "rename"; pattern: string; replacement: string; paths: string[] }
  | { verb: "find"; pattern: string; paths: string[] }
  | { verb: "show"; paths: string[] }
  | { verb: "run"; command: string }
  | { verb: "apply" | "discard" | "undo"; id?: string }
  | { verb: "help" }
  /** Understood in part: what to say instead of acting. */
  | { verb: "unclear"; answer: string };

/** Undefined for anything that is not one of the sentences. */
export function parseSentence(text: string): Sentence | undefined {
  const [, word = "", rest = ""] = /^\s*([a-z]+)(?:\s+(.*))?$/is.exec(text) ?? [];
  const verb = word.toLowerCase();
  if (verb === "run") return rest === "" ? undefined : { verb, command: rest };
  const object = rest.trim();
  if (verb === "help") return object === "" ? { verb } : undefined;
  if (verb === "apply" || verb === "discard" || verb === "undo") {
    if (object === "") return { verb };
    return /\s/.test(object) ? undefined : { verb, id: object };
  }
  if (object === "") return undefined;
  if (verb === "show") return { verb, paths: parsePaths(object) };
  if (verb === "find") return parseFind(object);
  if (verb === "replace") return parseChange(object, { verb, separator: "with" });
  if (verb === "rename") return checkNames(parseChange(object, { verb, separator: "to" }));
  return undefined;
}

function parseFind(object: string): Sentence | undefined {
  const { text, paths } = splitPaths(object, 0, separators(object, "in"));
  const pattern = codeIn(text);
  return pattern === "" ? undefined : { verb: "find", pattern, paths };
}

function parseChange(
  object: string,
  { verb, separator }: { verb: "replace" | "rename"; separator: "with" | "to" },
): Sentence | undefined {
  const found = separators(object, separator);
  const [only] = found;
  if (only === undefined || found.length > 1)
    return {
      verb: "unclear",
      answer: `"${separator}" occurs ${found.length} times; put the pattern and the replacement in backquotes.`,
    };
  const { text, paths } = splitPaths(object, only + separator.length, separators(object, "in"));
  const pattern = codeIn(object.slice(0, only));
  const replacement = codeIn(text);
  if (pattern === "") return undefined;
  if (text.trim() === "")
    return { verb: "unclear", answer: "The replacement is empty; write two backquotes to delete what matches." };
  return { verb, pattern, replacement, paths };
}

/** A rename is by name: one identifier for another, and neither a metavariable. */
function checkNames(sentence: Sentence | undefined): Sentence | undefined {
  if (sentence?.verb !== "rename") return sentence;
  const isName = (text: string) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text) && !/^\$+[A-Z_0-9]*$/.test(text);
  if (isName(sentence.pattern) && isName(sentence.replacement)) return sentence;
  return { verb: "unclear", answer: "rename takes two single identifiers; use replace for anything else." };
}

/** Cuts `text` from `start` at the last `in` behind it; without one the paths are the working directory. */
function splitPaths(text: string, start: number, ins: readonly number[]): { text: string; paths: string[] } {
  const last = ins.findLast((position) => position >= start);
  if (last === undefined) return { text: text.slice(start), paths: ["."] };
  return { text: text.slice(start, last), paths: parsePaths(text.slice(last + "in".length)) };
}

/** Code as it was written: bare and trimmed, or one backquoted span, which keeps its white space. */
function codeIn(text: string): string {
  const trimmed = text.trim();
  return /^`([^`]*)`$/.exec(trimmed)?.[1] ?? trimmed;
}

/** Paths between white space and commas; quotes of any kind hold one that has such characters. */
function parsePaths(text: string): string[] {
  const paths: string[] = [];
  for (const match of text.matchAll(/"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s,]+)/g))
    paths.push(match[1] ?? match[2] ?? match[3] ?? match[4] ?? "");
  return paths.length === 0 ? ["."] : paths;
}

/** Where `word` stands between white space, outside backquotes, quotes and brackets. */
function separators(text: string, word: string): number[] {
  const spans = protectedSpans(text);
  const found: number[] = [];
  let span = 0;
  for (const match of text.matchAll(new RegExp(`(?<=^|\\s)${word}(?=\\s)`, "g"))) {
    while ((spans[span]?.end ?? Number.POSITIVE_INFINITY) < match.index) span++;
    if ((spans[span]?.start ?? Number.POSITIVE_INFINITY) > match.index) found.push(match.index);
  }
  return found;
}

interface Span {
  start: number;
  /** The closing character. */
  end: number;
}

const closers: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** Quoted and bracketed parts, outermost only, in order. What is not closed protects nothing. */
function protectedSpans(text: string): Span[] {
  const spans: Span[] = [];
  const open: { closer: string; start: number }[] = [];
  const unclosed = new Set<string>();
  for (let position = 0; position < text.length; position++) {
    const character = text[position] ?? "";
    if ("`\"'".includes(character)) {
      const end = unclosed.has(character) ? -1 : closingQuote(text, position, character);
      if (end === -1) unclosed.add(character);
      else {
        spans.push({ start: position, end });
        position = end;
      }
    } else if (character in closers) open.push({ closer: closers[character] ?? "", start: position });
    else if (open.length > 0 && ")]}".includes(character)) {
      const opener = open.findLastIndex(({ closer }) => closer === character);
      const start = open[opener]?.start;
      if (start === undefined) continue;
      // Whatever was opened in between was never closed.
      open.length = opener;
      spans.push({ start, end: position });
    }
  }
  return outermost(spans);
}

/** A backquote ends at the next one; in other quotes a backslash takes the next character along. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let position = start + 1; position < text.length; position++) {
    if (text[position] === quote) return position;
    if (quote !== "`" && text[position] === "\\") position++;
  }
  return -1;
}

function outermost(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  const kept: Span[] = [];
  for (const span of sorted) if (span.start > (kept.at(-1)?.end ?? -1)) kept.push(span);
  return kept;
}
