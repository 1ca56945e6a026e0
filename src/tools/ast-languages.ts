// The languages ast tools know: which grammar, which names, which file endings. Plain data, so asking costs nothing.

import { toolFailure } from "./tool.js";

/** Grammars inside the parser package, by its own names. */
export type Grammar = "TypeScript" | "Tsx" | "JavaScript" | "Html" | "Css";

interface Language {
  /** Absent: known, but its grammar is not installed. */
  grammar?: Grammar;
  /** The first one is the language's own. */
  names: readonly string[];
  extensions: readonly string[];
}

const languages: readonly Language[] = [
  { grammar: "TypeScript", names: ["typescript", "ts", "mts", "cts"], extensions: ["ts", "mts", "cts"] },
  { grammar: "Tsx", names: ["tsx"], extensions: ["tsx"] },
  {
    grammar: "JavaScript",
    names: ["javascript", "js", "jsx", "mjs", "cjs"],
    extensions: ["js", "jsx", "mjs", "cjs"],
  },
  { grammar: "Html", names: ["html", "htm"], extensions: ["html", "htm"] },
  { grammar: "Css", names: ["css"], extensions: ["css"] },
  { names: ["bash", "sh"], extensions: ["sh", "bash"] },
  { names: ["c"], extensions: ["c", "h"] },
  { names: ["cpp", "c++", "cc", "cxx"], extensions: ["cpp", "cc", "cxx", "hpp", "hh"] },
  { names: ["csharp", "c#", "cs"], extensions: ["cs"] },
  { names: ["go", "golang"], extensions: ["go"] },
  { names: ["java"], extensions: ["java"] },
  { names: ["json"], extensions: ["json"] },
  { names: ["kotlin", "kt"], extensions: ["kt", "kts"] },
  { names: ["php"], extensions: ["php"] },
  { names: ["python", "py"], extensions: ["py", "pyi"] },
  { names: ["ruby", "rb"], extensions: ["rb"] },
  { names: ["rust", "rs"], extensions: ["rs"] },
  { names: ["swift"], extensions: ["swift"] },
  { names: ["yaml", "yml"], extensions: ["yaml", "yml"] },
];

/** The grammar for a language's name or alias. Throws for a language we do not have. */
export function grammarNamed(name: string): Grammar {
  const language = languages.find(({ names }) => names.includes(name.trim().toLowerCase()));
  if (language === undefined) {
    const supported = languages.flatMap(({ grammar, names }) => (grammar ? names : []));
    throw toolFailure(`Unsupported language '${name.slice(0, 80)}'. Supported: ${supported.join(", ")}`);
  }
  return installed(language);
}

/** The grammar for a file, by its ending; undefined where there is none. */
export function grammarOf(path: string): Grammar | undefined {
  return languageOf(path)?.grammar;
}

/** For a file that was named: throws where its language is known and its grammar is missing. */
export function grammarOfNamed(path: string): Grammar | undefined {
  const language = languageOf(path);
  return language && installed(language);
}

/** In these a name that begins with `$` is an identifier, so a pattern parses as it stands. */
export function isScript(grammar: Grammar): boolean {
  return grammar === "TypeScript" || grammar === "Tsx" || grammar === "JavaScript";
}

function languageOf(path: string): Language | undefined {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : languages.find(({ extensions }) => extensions.includes(extension));
}

function installed({ grammar, names }: Language): Grammar {
  if (grammar) return grammar;
  throw toolFailure(`Grammar for '${names[0]}' is not installed (@ast-grep/lang-${names[0]}).`);
}
