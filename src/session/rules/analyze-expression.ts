// What can be known of a regular expression before it runs: how long one attempt may take, how far it looks, whether
// text that is still to come may change its answer. It reads any source that `new RegExp(source)` accepts, and where
// it is unsure it errs on the slow and far side.

export interface ExpressionAnalysis {
  /** Upper bound of the matcher's steps from one start position in a text of `windowLength`. */
  readonly work: number;
  /** How many characters from its start an attempt can look at. */
  readonly reach: number;
  /**
   * How many characters behind its end a match depends on, besides the next one. -1: on nothing behind it, so that a
   * match stays a match whatever follows.
   */
  readonly ahead: number;
  /**
   * Through how many different ways V8 may have to think when it translates the expression, which it does on first use
   * and in which it cannot be interrupted. Small loops are written out, in each other too; marks such as `\b` count,
   * because what follows them is translated for both answers.
   */
  readonly paths: number;
  /** Texts that every match holds; some of them, not all. */
  readonly literals: readonly string[];
}

export function analyzeExpression(source: string, windowLength: number): ExpressionAnalysis {
  return new Reader(source, windowLength).disjunction();
}

interface Part extends ExpressionAnalysis {
  /** Upper bound of the ways to match from one start: what a failure further on makes the matcher try again. */
  readonly ways: number;
  /** The longest match. */
  readonly max: number;
  readonly hasLookahead: boolean;
  /** Set for one literal character. */
  readonly character?: string;
}

/** Each is looked for before the expression is tried. */
const maxLiterals = 4;

/** V8 writes up to three rounds of a loop out. */
const maxWrittenOut = 3;

const nothing: Part = { paths: 1, work: 1, ways: 1, max: 0, reach: 0, ahead: -1, literals: [], hasLookahead: false };
const oneCharacter: Part = { ...nothing, max: 1, reach: 1 };
const boundary: Part = { ...nothing, paths: 2, ahead: 0 };

class Reader {
  readonly #source: string;
  readonly #windowLength: number;
  #at = 0;

  constructor(source: string, windowLength: number) {
    this.#source = source;
    this.#windowLength = windowLength;
  }

  disjunction(): Part {
    let result = this.#sequence();
    while (this.#take("|")) result = either(result, this.#sequence());
    return result;
  }

  #sequence(): Part {
    let result = nothing;
    const literals: string[] = [];
    let run = "";
    while (this.#at < this.#source.length && !"|)".includes(this.#source.charAt(this.#at))) {
      const atom = this.#atom();
      const quantifier = this.#quantifier();
      result = both(result, quantifier ? this.#repeat(atom, quantifier) : atom);
      if (atom.character !== undefined && !quantifier) run += atom.character;
      else {
        literals.push(run);
        run = "";
        if (quantifier?.min !== 0) literals.push(...atom.literals);
      }
    }
    literals.push(run);
    return { ...result, literals: literals.filter((literal) => literal !== "").slice(0, maxLiterals) };
  }

  #atom(): Part {
    const character = this.#source.charAt(this.#at++);
    if (character === "^") return { ...boundary, ahead: -1 };
    if (character === "$") return boundary;
    if (character === ".") return oneCharacter;
    if (character === "(") return this.#group();
    if (character === "[") return this.#class();
    if (character === "\\") return this.#escape();
    return { ...oneCharacter, character };
  }

  #group(): Part {
    const opening = this.#match(/\?(?:<?[=!]|<[^>]*>|[a-z-]*:)/y);
    const inner = this.disjunction();
    this.#take(")");
    const look = { ...nothing, work: inner.work, paths: inner.paths + 1 };
    if (opening === "?=" || opening === "?!") {
      // More text can only help to find what must follow; it can undo what must not, and move a boundary.
      const ahead = opening === "?!" || inner.ahead >= 0 ? inner.reach : -1;
      return { ...look, reach: inner.reach, ahead, hasLookahead: true };
    }
    if (opening === "?<=" || opening === "?<!") {
      const ahead = inner.hasLookahead ? Number.POSITIVE_INFINITY : inner.ahead;
      return { ...look, ahead, hasLookahead: inner.hasLookahead };
    }
    // Modifiers such as `(?i:` change which text the literal stands for.
    return opening !== undefined && /^\?[a-z-]+:/.test(opening) ? { ...inner, literals: [] } : inner;
  }

  #class(): Part {
    this.#match(/(?:\\[\s\S]|[^\]\\])*/y);
    this.#take("]");
    return oneCharacter;
  }

  #escape(): Part {
    const character = this.#source.charAt(this.#at++);
    if (character === "b" || character === "B") return boundary;
    if (/[1-9k]/.test(character)) return this.#backreference();
    if (character === "x") this.#match(/[0-9a-f]{2}/iy);
    if (character === "u") this.#match(/[0-9a-f]{4}/iy);
    if (character === "c") this.#match(/[a-z]/iy);
    return /\w/.test(character) ? oneCharacter : { ...oneCharacter, character };
  }

  /** Or an octal escape, for which these bounds are merely generous. */
  #backreference(): Part {
    this.#match(/\d+|<[^>]*>/y);
    const endless = Number.POSITIVE_INFINITY;
    return { ...nothing, paths: 2, work: this.#windowLength, max: endless, reach: endless };
  }

  #quantifier(): { min: number; max: number } | undefined {
    const text = this.#match(/[*+?]|\{\d+(?:,\d*)?\}/y);
    if (text === undefined) return undefined;
    this.#take("?"); // a lazy one goes the same ways in another order
    if (text === "?") return { min: 0, max: 1 };
    if (!text.startsWith("{")) return { min: text === "*" ? 0 : 1, max: Number.POSITIVE_INFINITY };
    const [min = "", max = min] = text.slice(1, -1).split(",");
    return { min: Number(min), max: max === "" ? Number.POSITIVE_INFINITY : Number(max) };
  }

  #repeat(part: Part, { min, max }: { min: number; max: number }): Part {
    if (max === 0) return nothing;
    const rounds = Math.min(max, this.#windowLength); // a round that matches nothing ends the loop
    const { work, ways } = part.ways === 1 ? { work: rounds * part.work, ways: rounds + 1 } : powers(part, rounds);
    const written = min > maxWrittenOut ? 0 : min;
    const branching = max > maxWrittenOut ? 1 : max - min;
    return {
      ...part,
      paths: part.paths ** written * (part.paths + 1) ** branching,
      work: work + 1,
      ways: min === max && part.ways === 1 ? 1 : ways,
      max: times(part.max, max),
      reach: times(part.max, max - 1) + part.reach,
    };
  }

  #take(character: string): boolean {
    const isThere = this.#source.charAt(this.#at) === character;
    if (isThere) this.#at++;
    return isThere;
  }

  /** `pattern` is sticky. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    this.#at += text?.length ?? 0;
    return text;
  }
}

/** First one, then the other: whatever the first part can match, the second is tried after each. */
function both(first: Part, second: Part): Part {
  return {
    paths: first.paths * second.paths,
    work: first.work + first.ways * second.work,
    ways: first.ways * second.ways,
    max: first.max + second.max,
    reach: Math.max(first.reach, first.max + second.reach),
    ahead: Math.max(first.ahead, second.ahead),
    literals: [],
    hasLookahead: first.hasLookahead || second.hasLookahead,
  };
}

function either(first: Part, second: Part): Part {
  return {
    paths: first.paths + second.paths,
    work: first.work + second.work + 1,
    ways: first.ways + second.ways,
    max: Math.max(first.max, second.max),
    reach: Math.max(first.reach, second.reach),
    ahead: Math.max(first.ahead, second.ahead),
    literals: [],
    hasLookahead: first.hasLookahead || second.hasLookahead,
  };
}

/** A loop over something with several ways: they multiply with every round. */
function powers(part: Part, rounds: number): { work: number; ways: number } {
  let work = 0;
  let ways = 1;
  let power = 1;
  for (let round = 0; round < rounds && Number.isFinite(ways); round++) {
    work += power * part.work;
    power *= part.ways;
    ways += power;
  }
  return { work, ways };
}

/** Nothing, however often, is nothing. */
function times(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : one * other;
}
