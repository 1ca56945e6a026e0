// Watches a reply as it streams in and tells which rules it breaks, each at most once a turn. Promises: which rules
// match does not depend on how the text is cut into deltas; a delta costs the same at the start and at the end of a
// long reply; and an expression that would freeze the process is stopped and its rule given up, with one warning.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { runWithin } from "../../base/time-limit.js";
import { type Expression, maxPieceLength, overlapLength } from "./expression.js";
import { PathScanner } from "./path-scanner.js";
import type { StreamRule } from "./rule.js";
import { type PathTest, pathSpellings, type Scope } from "./rule-scope.js";

/** Prose has one buffer a turn; each tool call has its own, by the index of its block. */
export type SourceKey = "text" | "thinking" | number;

/** For one test of one rule. */
const maxTestMs = 50;
/** Of the second try: on a busy machine a process may stand still for longer than the first allows. */
const secondTestMs = 250;
/** Many tests that are just quick enough freeze the process as well: beyond this sum their average counts. */
const maxSpentMs = 500;
const maxAverageMs = 1;
const tooSlow = "has a condition that takes too long to test";

interface Watch {
  readonly rule: StreamRule;
  readonly expression: Expression;
  /** Those of the trigger that lead to this buffer. */
  readonly scopes: readonly Scope[];
  hasMatched: boolean;
  /** How many paths have been held against the globs. */
  pathsSeen: number;
}

interface SourceBuffer {
  /** The newest text, as far back as a match may begin. */
  text: string;
  /** How much of `text` was there before the newest piece. */
  oldLength: number;
  /** Whether `text` is all there was: only then may `^` match at its start. */
  isWhole: boolean;
  watches: Watch[];
  /** Where a watch asks for a path. */
  readonly scanner: PathScanner | undefined;
}

interface Test {
  readonly watch: Watch;
  readonly pattern: RegExp;
  readonly text: string;
  readonly from: number;
}

export class RuleMatcher {
  readonly #cwd: string;
  readonly #log: Log;
  readonly #buffers = new Map<SourceKey, SourceBuffer>();
  readonly #spent = new Map<StreamRule, { ms: number; tests: number }>();
  readonly #givenUp = new Set<StreamRule>();
  #rules: readonly StreamRule[] = [];

  constructor({ cwd, log }: { cwd: string; log: Log }) {
    this.#cwd = cwd;
    this.#log = log;
  }

  /** A turn starts, and these are the rules that count in it. */
  reset(rules: readonly StreamRule[]): void {
    this.#spent.clear();
    this.#buffers.clear();
    this.#rules = rules.filter((rule) => !this.#givenUp.has(rule));
    for (const kind of ["text", "thinking"] as const)
      this.#buffers.set(
        kind,
        openBuffer(this.#rules, (scope) => scope.kind === kind),
      );
  }

  /** No rule is left to watch for in this turn. */
  get isIdle(): boolean {
    return this.#rules.length === 0;
  }

  openToolCall(key: number, toolName: string): void {
    const isMeant = (scope: Scope) => scope.kind === "tool" && (scope.name === undefined || scope.name === toolName);
    this.#buffers.set(key, openBuffer(this.#rules, isMeant));
  }

  /** The rules that this delta makes match. A tool call that was never opened is not watched. */
  append(key: SourceKey, delta: string): StreamRule[] {
    const buffer = this.#buffers.get(key);
    if (!buffer || buffer.watches.length === 0) return [];
    for (let at = 0; at < delta.length; at += maxPieceLength) {
      extend(buffer, delta.slice(at, at + maxPieceLength));
      this.#test(buffer, "early");
    }
    buffer.scanner?.push(delta);
    return this.#report(buffer);
  }

  /** The block is over: what depends on the text behind it is decided now. */
  end(key: SourceKey): StreamRule[] {
    const buffer = this.#buffers.get(key);
    if (!buffer || buffer.watches.length === 0) return [];
    extend(buffer, "");
    this.#test(buffer, "final");
    return this.#report(buffer);
  }

  #test(buffer: SourceBuffer, when: "early" | "final"): void {
    const { text } = buffer;
    const slow: Test[] = [];
    for (const watch of buffer.watches) {
      const { expression } = watch;
      const pattern = watch.hasMatched ? undefined : expression[when];
      const from = Math.max(buffer.isWhole ? 0 : 1, buffer.oldLength - expression.overlap);
      if (!pattern || !expression.literals.every((literal) => text.includes(literal, from))) continue;
      if (expression.isQuick) this.#run({ watch, pattern, text, from });
      else slow.push({ watch, pattern, text, from });
    }
    if (slow.length > 0) this.#testSlowly(slow);
  }

  /**
   * One time limit for them all, because it costs more than most tests do. Who is stopped gets one of its own: it may
   * have been the others that were slow, or the machine.
   */
  #testSlowly(tests: readonly Test[]): void {
    let next = 0;
    const runOne = () => {
      const test = tests[next];
      if (test) this.#runTimed(test);
    };
    while (next < tests.length) {
      const areDone = runWithin(maxTestMs, () => {
        for (; next < tests.length; next++) runOne();
      });
      if (areDone) return;
      const stopped = tests[next]?.watch.rule;
      if (!runWithin(secondTestMs, runOne) && stopped) this.#giveUp(stopped, tooSlow);
      next++;
    }
  }

  #run({ watch, pattern, text, from }: Test): void {
    try {
      pattern.lastIndex = from;
      watch.hasMatched = pattern.test(text);
    } catch (error) {
      // The matcher may run out of memory, for one. A rule must not end the run that it watches.
      this.#giveUp(watch.rule, `has a condition that cannot be tested (${messageOf(error)})`);
    }
  }

  #runTimed(test: Test): void {
    const { rule } = test.watch;
    const start = performance.now();
    this.#run(test);
    const spent = this.#spent.get(rule) ?? { ms: 0, tests: 0 };
    this.#spent.set(rule, spent);
    spent.ms += performance.now() - start;
    spent.tests++;
    if (spent.ms > maxSpentMs && spent.ms / spent.tests > maxAverageMs) this.#giveUp(rule, tooSlow);
  }

  #giveUp(rule: StreamRule, problem: string): void {
    if (this.#givenUp.has(rule)) return;
    this.#givenUp.add(rule);
    this.#log.warn(`The rule ${rule.path} ${problem}; it is not used any more.`);
    this.#drop([rule]);
  }

  /** The rules that have matched and whose demands on paths are met. They are done for this turn. */
  #report(buffer: SourceBuffer): StreamRule[] {
    const broken = new Set<StreamRule>();
    for (const watch of buffer.watches)
      if (watch.hasMatched && !broken.has(watch.rule) && this.#fitsPaths(watch, buffer)) broken.add(watch.rule);
    if (broken.size > 0) this.#drop([...broken]);
    return [...broken];
  }

  #fitsPaths(watch: Watch, { scanner }: SourceBuffer): boolean {
    const { rule, scopes } = watch;
    if (!needsPath(watch)) return true;
    const paths = scanner?.paths ?? [];
    if (paths.length === watch.pathsSeen) return false;
    watch.pathsSeen = paths.length;
    let fits = false;
    const test = () => {
      const spellings = paths.flatMap((path) => pathSpellings(path, this.#cwd));
      const isMet = (glob: PathTest | undefined) => glob === undefined || spellings.some(glob);
      fits =
        scopes.some((scope) => scope.kind !== "tool" || isMet(scope.glob)) &&
        (rule.globs.length === 0 || rule.globs.some(isMet));
    };
    const isInTime = runWithin(maxTestMs, test) || runWithin(secondTestMs, test);
    if (!isInTime) this.#giveUp(rule, "has a glob that takes too long to test");
    return isInTime && fits;
  }

  #drop(rules: readonly StreamRule[]): void {
    this.#rules = this.#rules.filter((rule) => !rules.includes(rule));
    for (const buffer of this.#buffers.values())
      buffer.watches = buffer.watches.filter((watch) => !rules.includes(watch.rule));
  }
}

function openBuffer(rules: readonly StreamRule[], isMeant: (scope: Scope) => boolean): SourceBuffer {
  const watches: Watch[] = [];
  for (const rule of rules)
    for (const trigger of rule.triggers) {
      const scopes = trigger.scopes.filter(isMeant);
      const { expression } = trigger;
      if (scopes.length > 0) watches.push({ rule, expression, scopes, hasMatched: false, pathsSeen: 0 });
    }
  const scanner = watches.some(needsPath) ? new PathScanner() : undefined;
  return { text: "", oldLength: 0, isWhole: true, watches, scanner };
}

function needsPath({ rule, scopes }: Watch): boolean {
  return rule.globs.length > 0 || scopes.every((scope) => scope.kind === "tool" && scope.glob !== undefined);
}

function extend(buffer: SourceBuffer, piece: string): void {
  if (buffer.text.length > overlapLength) {
    // One character more than is searched: the character before decides about `\b`.
    buffer.text = buffer.text.slice(-overlapLength - 1);
    buffer.isWhole = false;
  }
  buffer.oldLength = buffer.text.length;
  buffer.text += piece;
}
