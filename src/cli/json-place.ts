// Where a JSON text stops being JSON. The engine's own message names the place only sometimes.

export interface JsonProblem {
  /** From 0. */
  readonly offset: number;
  readonly expected: string;
}

const space = /[ \t\n\r]*/y;
const scalar =
  /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;

/** Undefined for a valid text. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let isFirst = true;
  const skip = () => {
    at = after(space, text, at) ?? at;
  };
  const problem = (expected: string): JsonProblem => ({ offset: at, expected });
  const take = (sign: string) => {
    if (text[at] !== sign) return false;
    at++;
    skip();
    return true;
  };
  skip();
  for (;;) {
    // A value begins here, or a list or an object that has just begun ends.
    if (open.at(-1) === "{" && !(isFirst && text[at] === "}")) {
      const end = text[at] === '"' ? after(scalar, text, at) : undefined;
      if (end === undefined) return problem(isFirst ? 'a name in double quotes, or "}"' : "a name in double quotes");
      at = end;
      skip();
      if (!take(":")) return problem('":"');
    }
    const isEnd = isFirst && open.length > 0 && text[at] === closing(open.at(-1));
    const bracket = text[at];
    if (!isEnd && (bracket === "{" || bracket === "[")) {
      open.push(bracket);
      at++;
      skip();
      isFirst = true;
      continue;
    }
    if (!isEnd) {
      const end = after(scalar, text, at);
      if (end === undefined) return problem("a value");
      at = end;
      skip();
    }
    isFirst = false;
    // Behind a value: the ends of what it is in, then a comma or the end of the text.
    for (;;) {
      const inner = open.at(-1);
      if (inner === undefined) return at === text.length ? undefined : problem("the end of the text");
      if (take(closing(inner) as string)) open.pop();
      else if (take(",")) break;
      else return problem(`"," or "${closing(inner)}"`);
    }
  }
}

function closing(bracket: "{" | "[" | undefined): string | undefined {
  return bracket === undefined ? undefined : bracket === "{" ? "}" : "]";
}

function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
