// What runs in the parser's own process, and the messages it answers. Native code parses and matches there, because a
// damaged grammar or a hostile file can abort the process it is in. `serveParser` travels as text (`node -e`): it must
// not refer to anything outside itself, and so needs no file of its own in any form the program is shipped in.

import type { NapiConfig, SgNode } from "@ast-grep/napi";

/** `process.argv[1]` of the worker, as JSON. */
export interface WorkerSetup {
  /** Files from which the parser, and the packages with grammars, are resolved. */
  parserFrom: string;
  grammarsFrom: string;
  /** To be registered: all in one call, since the parser ignores a second one. */
  languages: readonly { id: string; packageName: string }[];
}

/** The first message. A language in none of the two is not installed. */
export interface WorkerReady {
  /** Usable languages, and the character that stands for `$` where a pattern is parsed. */
  expandos: Record<string, string>;
  /** Installed, but not usable: why. */
  broken: Record<string, string>;
}

export interface MatchRequest {
  /** A built-in grammar's name or the id of a registered one. */
  grammar: string;
  /** UTF-8. */
  source: Uint8Array;
  rules: readonly { matcher: NapiConfig; captures: readonly { name: string; isMultiple: boolean }[] }[];
  /** Node kinds whose lines are content; looked up only where a match takes several lines along. */
  stringKinds: readonly string[];
  /** Part of a file, in which error nodes are no reason to stop. */
  isFragment?: true;
}

/** Offsets are UTF-16 units, lines and columns count from 0. */
export interface Span {
  start: number;
  end: number;
  /** Where it starts. */
  line: number;
  column: number;
}

export interface RuleMatch {
  /** Index into the request's rules. */
  rule: number;
  span: Span;
  /** As asked for; null where nothing was captured. */
  captures: (Span | null)[];
}

export type MatchReply =
  | { matches: RuleMatch[]; fixedLines: [first: number, last: number][] }
  /** It could not be done; `isFatal` when the attempt cost the process. */
  | { problem: string; isFatal?: true };

/** A pattern with more matches in one file is surely a mistake. */
export const maxMatchesPerFile = 100_000;

export function workerScript(): string {
  return `(${serveParser})(require, JSON.parse(process.argv[1]), ${maxMatchesPerFile})`;
}

/** Self-contained: see above. */
function serveParser(load: NodeJS.Require, setup: WorkerSetup, maxMatches: number): void {
  const { createRequire } = load("node:module") as typeof import("node:module");
  const { existsSync } = load("node:fs") as { existsSync(path: string): boolean };
  const parser = createRequire(setup.parserFrom)("@ast-grep/napi") as typeof import("@ast-grep/napi");
  // Trees are outside the heap, so the garbage collector does not know their size: some forty times their file's.
  const collectEvery = 256 * 1024;
  let parsedSinceCollection = 0;

  process.on("disconnect", () => process.exit(0));
  // Not at once: what the collector frees, it frees when the event loop turns, and reading has many messages in one turn.
  process.on("message", (request: MatchRequest) => setImmediate(serve, request));
  process.send?.(register());

  function serve(request: MatchRequest): void {
    process.send?.(answer(request));
    if (parsedSinceCollection < collectEvery) return;
    parsedSinceCollection = 0;
    // What holds a tree is young, and this takes a tenth of a full collection.
    (globalThis as { gc?: (options: { type: "minor" }) => void }).gc?.({ type: "minor" });
  }

  function register(): WorkerReady {
    const requireGrammar = createRequire(setup.grammarsFrom);
    const ready: WorkerReady = { expandos: {}, broken: {} };
    const registrations: Parameters<typeof parser.registerDynamicLanguage>[0] = {};
    for (const { id, packageName } of setup.languages) {
      try {
        requireGrammar.resolve(packageName);
      } catch {
        continue; // not installed
      }
      try {
        const { libraryPath, extensions, languageSymbol, expandoChar } = requireGrammar(packageName);
        if (!existsSync(libraryPath)) throw new Error("its library file is missing");
        registrations[id] = { libraryPath, extensions, languageSymbol, expandoChar };
        ready.expandos[id] = expandoChar ?? "$";
      } catch (error) {
        ready.broken[id] = error instanceof Error ? error.message : String(error);
      }
    }
    if (Object.keys(registrations).length > 0) parser.registerDynamicLanguage(registrations);
    return ready;
  }

  function answer({ grammar, source, rules, stringKinds, isFragment }: MatchRequest): MatchReply {
    try {
      const text = Buffer.from(source.buffer, source.byteOffset, source.length).toString();
      parsedSinceCollection += text.length;
      const root = parser.parse(grammar, text).root();
      const matches: RuleMatch[] = [];
      for (const [rule, { matcher, captures }] of rules.entries()) {
        // One walk over the tree serves the first rule and the search for error nodes.
        const isFirst = rule === 0 && !isFragment;
        const found = root.findAll(isFirst ? withErrors(matcher) : matcher);
        if (isFirst && found.some((node) => node.kind() === "ERROR"))
          return { problem: "syntax tree contains error nodes" };
        if (matches.length + found.length > maxMatches) return { problem: `more than ${maxMatches} matches` };
        for (const node of found)
          matches.push({ rule, span: spanOf(node, node), captures: captures.map((each) => captured(node, each)) });
      }
      const hasLines = matches.some(({ captures }) =>
        captures.some((span) => span && text.slice(span.start, span.end).includes("\n")),
      );
      return { matches, fixedLines: hasLines ? stringKinds.flatMap((kind) => linesInside(root, kind)) : [] };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }

  function withErrors(matcher: NapiConfig): NapiConfig {
    return { ...matcher, rule: { any: [{ kind: "ERROR" }, matcher.rule] } };
  }

  /** From the first node to the last, with the separators in between. */
  function captured(match: SgNode, { name, isMultiple }: { name: string; isMultiple: boolean }): Span | null {
    const nodes = isMultiple ? match.getMultipleMatches(name) : [match.getMatch(name)];
    const [first, last] = [nodes[0], nodes.at(-1)];
    return first && last ? spanOf(first, last) : null;
  }

  function spanOf(first: SgNode, last: SgNode): Span {
    const { start, end } = first.range();
    const endIndex = last === first ? end.index : last.range().end.index;
    return { start: start.index, end: endIndex, line: start.line, column: start.column };
  }

  /** Lines that begin inside a string: their white space is content. */
  function linesInside(root: SgNode, kind: string): [number, number][] {
    return root.findAll({ rule: { kind } }).flatMap((node): [number, number][] => {
      const { start, end } = node.range();
      return end.line > start.line ? [[start.line + 1, end.line]] : [];
    });
  }
}
