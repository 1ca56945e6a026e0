// Keys that are known by their shape alone: prefixes that services give to nothing else, and private keys in PEM. Exact
// enough that ordinary text is left alone; one pass over the text, whatever is in it.

const shapes = [
  "sk-(?:ant|proj|or|svcacct)-[A-Za-z0-9_-]{24,}",
  "gh[pousr]_[A-Za-z0-9]{36,}",
  "github_pat_[A-Za-z0-9_]{40,}",
  "glpat-[A-Za-z0-9_-]{20,}",
  "xox[abprs]-[A-Za-z0-9-]{24,}",
  "AIza[A-Za-z0-9_-]{35}",
  "(?:AKIA|ASIA)[A-Z0-9]{16}",
];
// Neither a dash nor a letter outside base64 is part of the body: a text of many beginnings is read once. Line numbers
// and the escapes of JSON may stand between its lines.
const privateKey =
  "-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE KEY-----[A-Za-z0-9+/=\\s\\\\|:>]{40,}(?:-----END (?:[A-Z]+ ){0,2}PRIVATE KEY-----)?";

const pattern = new RegExp(`(?<![A-Za-z0-9_-])(?:${shapes.join("|")})(?![A-Za-z0-9_-])|${privateKey}`, "g");

/** The text with `[secret:key]` in the place of each. */
export function maskKeyShapes(text: string): string {
  return text.replace(pattern, "[secret:key]");
}
