// How text is masked: the contract between those who know the secrets and those who write text somewhere. Without secrets
// `noMask` stands in, which returns what it is given. What finds secrets is secret-mask.ts, loaded when there are any.

/** A shorter value would be found in the middle of words. */
export const minSecretLength = 8;
/** Less of the beginning of a secret may be ordinary text, where the text need not have been cut. */
export const minBeginning = 12;

export interface Secret {
  readonly value: string;
  /** What stands in its place: `[secret:<name>]`. */
  readonly name: string;
}

export interface TextMask {
  /** False: every text stays as it is. */
  readonly isActive: boolean;
  /** The text with every known secret replaced. */
  mask(text: string): string;
  /**
   * The same for a text that was cut: also the beginning of a secret, of at least `minLength` characters, at its end or
   * before an ellipsis. Default 4; more where the end need not be a cut.
   */
  excerpt(text: string, minLength?: number): string;
  /** The same for JSON text, which stays JSON: only strings change. */
  line(json: string): string;
  stream(): MaskStream;
}

/** Text that comes in pieces. The results together are the masked whole, however it was cut up. */
export interface MaskStream {
  /** What can be shown now: an end that may begin a secret is held back. */
  push(text: string): string;
  /** The rest. With `minLength` a beginning of a secret that is as long is masked too: the text may have been cut. */
  end(minLength?: number): string;
  /** Whether what came so far held a secret. */
  readonly hasMasked: boolean;
}

const same = (text: string) => text;

export const noMask: TextMask = {
  isActive: false,
  mask: same,
  excerpt: same,
  line: same,
  stream: () => ({ push: same, end: () => "", hasMasked: false }),
};

/** The value with every string in it masked, names of members included; the same value where nothing changes. */
export function maskDeep<Value>(value: Value, mask: (text: string) => string): Value {
  return masked(value, mask, new Map()) as Value;
}

function masked(value: unknown, mask: (text: string) => string, known: Map<object, unknown>): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  if (known.has(value)) return known.get(value);
  known.set(value, value); // a cycle ends here
  const copy = Array.isArray(value) ? maskedList(value, mask, known) : maskedMembers(value, mask, known);
  known.set(value, copy);
  return copy;
}

function maskedList(list: readonly unknown[], mask: (text: string) => string, known: Map<object, unknown>): unknown {
  const copy = list.map((item) => masked(item, mask, known));
  return copy.some((item, index) => item !== list[index]) ? copy : list;
}

function maskedMembers(value: object, mask: (text: string) => string, known: Map<object, unknown>): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value; // not data
  let hasChanged = false;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const shown: [string, unknown] = [mask(key), masked(member, mask, known)];
    hasChanged ||= shown[0] !== key || shown[1] !== member;
    return shown;
  });
  return hasChanged ? Object.fromEntries(members) : value;
}

/** Bytes as they come from a program: no decoding can stand between a secret and its mask. */
export interface ByteMask {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

export function maskBytes(stream: MaskStream): ByteMask {
  return {
    push: (bytes) => Buffer.from(stream.push(latin1(bytes)), "latin1"),
    end: () => Buffer.from(stream.end(minBeginning), "latin1"),
  };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
