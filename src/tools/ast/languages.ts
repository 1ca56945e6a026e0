// The languages ast tools know: which grammar, which names, which file endings. Plain data, so asking costs nothing.
// Whether an optional grammar is installed, the parser says (`parsers.ts`).

export interface Language {
  /** What the parser calls its grammar. */
  readonly grammar: string;
  /** The package that brings the grammar; absent where the parser itself does. */
  readonly packageName?: string;
  /** The first one is the language's own. */
  readonly names: readonly [string, ...string[]];
  readonly extensions: readonly string[];
  /** Nodes over several lines whose white space is content. */
  readonly stringKinds: readonly string[];
}

const script = { stringKinds: ["template_string"] };
const markup = { stringKinds: [] };

export const languages: readonly Language[] = [
  { grammar: "TypeScript", names: ["typescript", "ts", "mts", "cts"], extensions: ["ts", "mts", "cts"], ...script },
  { grammar: "Tsx", names: ["tsx"], extensions: ["tsx"], ...script },
  {
    grammar: "JavaScript",
    names: ["javascript", "js", "jsx", "mjs", "cjs"],
    extensions: ["js", "jsx", "mjs", "cjs"],
    ...script,
  },
  { grammar: "Html", names: ["html", "htm"], extensions: ["html", "htm"], ...markup },
  { grammar: "Css", names: ["css"], extensions: ["css"], ...markup },
  optional(["c"], ["c", "h"], ["string_literal"]),
  optional(["go", "golang"], ["go"], ["raw_string_literal"]),
  optional(["java"], ["java"], ["string_literal"]),
  optional(["json"], ["json"]),
  optional(["python", "py"], ["py", "pyi"], ["string"]),
  optional(["rust", "rs"], ["rs"], ["string_literal", "raw_string_literal"]),
  optional(["yaml", "yml"], ["yaml", "yml"]),
];

/** Known by name only: galley does not include their grammars. */
const absent: readonly Language[] = [
  optional(["bash", "sh"], ["sh", "bash"]),
  optional(["cpp", "c++", "cc", "cxx"], ["cpp", "cc", "cxx", "hpp", "hh"]),
  optional(["csharp", "c#", "cs"], ["cs"]),
  optional(["kotlin", "kt"], ["kt", "kts"]),
  optional(["php"], ["php"]),
  optional(["ruby", "rb"], ["rb"]),
  optional(["swift"], ["swift"]),
];

function optional(
  names: Language["names"],
  extensions: readonly string[],
  stringKinds: readonly string[] = [],
): Language {
  return { grammar: names[0], packageName: `@ast-grep/lang-${names[0]}`, names, extensions, stringKinds };
}

export function languageNamed(name: string): Language | undefined {
  const wanted = name.trim().toLowerCase();
  return [...languages, ...absent].find(({ names }) => names.includes(wanted));
}

/** The language of a file, by its ending; undefined where there is none. */
export function languageOf(path: string): Language | undefined {
  const dot = path.lastIndexOf(".");
  return dot === -1 ? undefined : byExtension.get(path.slice(dot + 1).toLowerCase());
}

/** In lower case, without the dot. */
export function fileEndings(): string[] {
  return [...byExtension.keys()];
}

const byExtension = new Map(
  [...languages, ...absent].flatMap((language) =>
    language.extensions.map((extension) => [extension, language] as const),
  ),
);
