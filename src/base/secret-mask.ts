// Finds secrets in text and puts `[secret:<name>]` in their place: as they are, URL-encoded, inside JSON strings and in
// base64, whatever stands before them there. Pure. Promises: where secrets overlap, the first one in the text wins, and
// of those that begin together the longest; a second masking changes nothing; time grows with the text alone.

import { type MaskStream, maskDeep, minSecretLength, type Secret, type TextMask } from "./text-mask.js";

/** Of the beginning of a secret at the end of a text that was cut. */
const minCutOff = 4;
const minLineLength = 16;

export function createMask(secrets: Iterable<Secret>): TextMask {
  const masks = new Map<string, string>();
  for (const { value, name } of secrets)
    for (const part of partsOf(value))
      for (const form of formsOf(part)) addTo(masks, form, `[secret:${safeName(name)}]`);
  const forms = [...masks.keys()].sort((a, b) => b.length - a.length);
  if (forms.length === 0) throw new Error("a mask needs a secret");
  const isHit = new RegExp(forms.map(escapeRegExp).join("|"));
  for (const mask of new Set(masks.values())) if (mayHit(forms, mask)) addTo(masks, mask, mask);
  const finder = new Finder(masks);
  const mask = (text: string) => (isHit.test(text) ? finder.replaceAll(text) : text);
  return {
    isActive: true,
    mask,
    excerpt: (text, minLength = minCutOff) => finder.withoutCutEnds(mask(text), minLength),
    // A form may lie across the syntax of JSON, or be a number: only its strings are looked at.
    line: (json) => (isHit.test(json) ? JSON.stringify(maskDeep(JSON.parse(json), mask)) : json),
    stream: () => new HoldingStream(finder),
  };
}

/** A value of several lines may be shown with something before each of them. */
function partsOf(value: string): string[] {
  const whole = value.trim();
  const lines = whole.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= minLineLength && !line.startsWith("-----"));
  return [whole, ...(lines.length > 1 ? long : [])].filter(({ length }) => length >= minSecretLength);
}

function formsOf(secret: string): Set<string> {
  const plain = [secret, ...urlForms(secret), ...base64Forms(secret)];
  const forms = new Set(plain);
  for (const form of plain) {
    const inJson = jsonForm(form);
    forms.add(inJson).add(jsonForm(inJson)); // arguments are JSON inside of JSON
  }
  // As the bytes of a program's output are looked at.
  for (const form of [...forms]) if (/[^\0-\x7f]/.test(form)) forms.add(Buffer.from(form).toString("latin1"));
  return forms;
}

function urlForms(secret: string): string[] {
  const text = secret.replace(/\p{Surrogate}/gu, "\ufffd"); // half a character cannot be encoded
  const encoded = encodeURIComponent(text);
  const strict = encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const ofForms = new URLSearchParams({ v: text }).toString().slice(2);
  return [encoded, strict, ofForms].flatMap((form) => [form, form.replace(/%../g, (code) => code.toLowerCase())]);
}

/** For each number of bytes that may stand before it, the characters that the secret alone decides; both alphabets. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const [first, end] = [Math.ceil((before * 4) / 3), Math.floor((whole.length * 4) / 3)];
    return [whole.toString("base64").slice(first, end), whole.toString("base64url").slice(first, end)];
  });
}

function jsonForm(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The first name stays: a key may be known by its provider and by its variable. */
function addTo(masks: Map<string, string>, form: string, mask: string): void {
  if (!masks.has(form)) masks.set(form, mask);
}

/** Safe in JSON, in a page and in a terminal. */
function safeName(name: string): string {
  return name.replace(/[^\w./@-]/g, "_").slice(0, 64) || "key";
}

/** A mask that a secret is part of, or could begin in, has to be seen as a whole. */
function mayHit(forms: readonly string[], mask: string): boolean {
  return forms.some((form) => form.includes("]") || mask.includes(form));
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

class Finder {
  readonly #masks: ReadonlyMap<string, string>;
  readonly #pattern: RegExp;
  readonly #longest: number;
  /** By their first character. */
  readonly #forms = new Map<number, string[]>();

  constructor(masks: ReadonlyMap<string, string>) {
    const forms = [...masks.keys()].sort((a, b) => b.length - a.length);
    this.#masks = masks;
    this.#pattern = new RegExp(forms.map(escapeRegExp).join("|"), "g");
    this.#longest = forms[0]?.length ?? 0;
    for (const form of forms) {
      const code = form.charCodeAt(0);
      this.#forms.set(code, [...(this.#forms.get(code) ?? []), form]);
    }
  }

  replaceAll(text: string): string {
    return text.replace(this.#pattern, (form) => this.#maskOf(form));
  }

  /** What is decided, masked, and where the undecided rest begins. */
  replaceDecided(text: string): { shown: string; decided: number; hasMasked: boolean } {
    let shown = "";
    let from = 0;
    let undecided = this.#undecidedFrom(text, 0);
    this.#pattern.lastIndex = 0;
    for (let match = this.#pattern.exec(text); match && match.index < undecided; match = this.#pattern.exec(text)) {
      shown += text.slice(from, match.index) + this.#maskOf(match[0]);
      from = match.index + match[0].length;
      if (undecided < from) undecided = this.#undecidedFrom(text, from);
    }
    return { shown: shown + text.slice(from, undecided), decided: undecided, hasMasked: from > 0 };
  }

  withoutCutEnds(text: string, minLength: number): string {
    const end = text.endsWith("…") ? text.length - 1 : text.length;
    let shown = "";
    let from = 0;
    for (let at = text.indexOf("…"); at !== -1 && at < end; at = text.indexOf("…", at + 1)) {
      shown += this.#withoutEnd(text.slice(from, at), minLength);
      from = at;
    }
    return shown + this.#withoutEnd(text.slice(from, end), minLength) + text.slice(end);
  }

  #withoutEnd(text: string, minLength: number): string {
    const start = this.#undecidedFrom(text, 0);
    if (text.length - start < minLength) return text;
    const form = this.#formAt(text, start) ?? "";
    return text.slice(0, start) + this.#maskOf(form);
  }

  /** The first place from which the text to its end may begin a secret; the end where there is none. */
  #undecidedFrom(text: string, from: number): number {
    for (let start = Math.max(from, text.length - this.#longest + 1); start < text.length; start++)
      if (this.#formAt(text, start) !== undefined) return start;
    return text.length;
  }

  /** A form that is longer than the rest of the text and begins with it. */
  #formAt(text: string, start: number): string | undefined {
    const length = text.length - start;
    return this.#forms.get(text.charCodeAt(start))?.find((form) => {
      if (form.length <= length) return false;
      let same = 1;
      while (same < length && form.charCodeAt(same) === text.charCodeAt(start + same)) same++;
      return same === length;
    });
  }

  #maskOf(form: string): string {
    return this.#masks.get(form) ?? "";
  }
}

class HoldingStream implements MaskStream {
  hasMasked = false;
  readonly #finder: Finder;
  #held = "";

  constructor(finder: Finder) {
    this.#finder = finder;
  }

  push(text: string): string {
    const all = this.#held + text;
    const { shown, decided, hasMasked } = this.#finder.replaceDecided(all);
    this.#held = all.slice(decided);
    this.hasMasked ||= hasMasked;
    return shown;
  }

  end(minLength = Number.POSITIVE_INFINITY): string {
    const rest = this.#finder.withoutCutEnds(this.#finder.replaceAll(this.#held), minLength);
    this.hasMasked ||= rest !== this.#held;
    this.#held = "";
    return rest;
  }
}
