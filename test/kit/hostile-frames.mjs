// Lines that a broken or malicious host might send, mixed with one good command in eleven, and the book that is kept of
// what each line is owed. Deterministic: the same seed gives the same bytes.

/** What a line is owed: its answer's id, or that it failed without one, or nothing. */
const parseFailure = "(parse)";
const unknownCommand = "(unknown)";
const nothing = undefined;

export class HostileTraffic {
  #random;
  #count;
  #sent = 0;
  #due = []; // what is owed, in order; taken from the front
  #front = 0;
  figures = { frames: 0, valid: 0, answered: 0, wrong: 0 };
  /** The first few answers that were not the ones due. */
  problems = [];

  constructor({ seed, count }) {
    this.#random = generator(seed);
    this.#count = count;
  }

  get isExhausted() {
    return this.#sent === this.#count;
  }

  /** Answers that are still due. */
  get due() {
    return this.#due.length - this.#front;
  }

  /** Up to about `size` bytes of whole lines. */
  nextChunk(size = 64 * 1024) {
    const parts = [];
    for (let bytes = 0; bytes < size && !this.isExhausted; ) {
      const { line, owed } = this.#nextLine();
      if (owed !== nothing) this.#due.push(owed);
      parts.push(line, lineEnd);
      bytes += line.length + 1;
    }
    return Buffer.concat(parts);
  }

  /** One response, as it came. Returns the id of the good command it answers, if it is one. */
  heard(frame) {
    const owed = this.#due[this.#front++];
    const told = tellingOf(frame);
    if (told !== owed) {
      this.figures.wrong++;
      if (this.problems.length < 5) this.problems.push({ owed, told: JSON.stringify(frame).slice(0, 300) });
    }
    if (this.#front > 10_000) {
      this.#due = this.#due.slice(this.#front);
      this.#front = 0;
    }
    if (typeof told !== "string" || !told.startsWith("v")) return undefined;
    this.figures.answered++;
    return told;
  }

  #nextLine() {
    const n = this.#sent++;
    this.figures.frames++;
    if (n % 11 === 10) {
      this.figures.valid++;
      return { line: Buffer.from(goodCommand(`v${n}`, this.#random)), owed: `v${n}` };
    }
    const { line, owed } = hostileLine(`h${n}`, this.#random);
    return { line: typeof line === "string" ? Buffer.from(line) : line, owed };
  }
}

const lineEnd = Buffer.from("\n");

function tellingOf({ id, command, error = "" }) {
  if (id !== undefined) return String(id);
  if (command === "parse" && error.startsWith("Failed to parse command: ")) return parseFailure;
  return error === `Unknown command: ${command}` ? unknownCommand : `${command}: ${error}`;
}

function goodCommand(id, random) {
  return JSON.stringify({
    id,
    ...pick(random, [
      { type: "get_state" },
      { type: "get_messages" },
      { type: "get_last_assistant_text" },
      { type: "get_available_models" },
      { type: "abort" },
      { type: "set_steering_mode", mode: "all" },
      { type: "set_follow_up_mode", mode: "one-at-a-time" },
      { type: "set_interrupt_mode", mode: "wait" },
      { type: "set_model", provider: "galley", modelId: "planner" },
      { type: "set_model", provider: "acme", modelId: "nope" }, // refused, but answered
      { type: "negotiate_protocol", protocolVersion: 3 },
    ]),
  });
}

function hostileLine(id, random) {
  const roll = random();
  // The costly ones are rare: they are about memory and time, not about variety.
  if (roll < 0.0001) return { line: `{"type":"abort",${"x".repeat(1024 * 1024)}`, owed: parseFailure };
  if (roll < 0.00015) return { line: wideObject(100_001), owed: parseFailure };
  if (roll < 0.001) return { line: nested(between(random, 128, 5000)), owed: parseFailure };
  return pick(random, kinds)(id, random);
}

const kinds = [
  // No JSON at all
  (_, random) => ({ line: `x${garbage(random)}`, owed: parseFailure }),
  (_, random) => ({ line: binary(random), owed: parseFailure }),
  (id, random) => ({ line: truncated(goodCommand(id, random), random), owed: parseFailure }),
  (id, random) => ({
    line: `${goodCommand(id, random)}${pick(random, ["}", "\0", "{}", " x", "\uFEFF"])}`,
    owed: parseFailure,
  }),
  (id, random) => ({ line: `\uFEFF${goodCommand(id, random)}`, owed: parseFailure }),
  (id) => ({ line: `{"id":"${id}","type":"abort","type:}`, owed: parseFailure }),
  (id) => ({ line: `{'id':'${id}','type':'abort'}`, owed: parseFailure }),
  // Bytes that are no text
  (id, random) => ({ line: withBadBytes(id, random), owed: parseFailure }),
  // JSON, but no frame
  (_, random) => ({
    line: pick(random, ["null", "true", "0", "-1e999", '""', '"get_state"', "[]", '["abort"]', "{}", '{"id":"x"}']),
    owed: parseFailure,
  }),
  (id, random) => ({
    line: `{"id":"${id}","type":${pick(random, ["null", "7", "true", "[]", "{}", '["abort"]', '{"toString":"abort"}'])}}`,
    owed: parseFailure,
  }),
  // Nothing to say
  (_, random) => ({ line: pick(random, ["", " ", "\t", "\r", "   \r", " \t \t "]), owed: nothing }),
  // Answers nobody asked for
  (id, random) => ({
    line: JSON.stringify({
      id,
      type: pick(random, ["extension_ui_response", "host_tool_update", "host_tool_result"]),
      result: pick(random, [null, 7, { content: "x" }]),
    }),
    owed: nothing,
  }),
  // Frames that name no command
  (id, random) => ({
    line: JSON.stringify({ id, type: pick(random, unknownTypes), message: garbage(random) }),
    owed: unknownCommand,
  }),
  (id, random) => ({ line: JSON.stringify({ id, type: garbage(random) }), owed: unknownCommand }),
  (_, random) => ({ line: `{"id":${pick(random, strangeIds)},"type":"frobnicate"}`, owed: unknownCommand }),
  // Commands with wrong arguments: refused by name and with their id
  (id, random) => ({ line: JSON.stringify({ id, ...pick(random, badArguments) }), owed: id }),
  // Good commands with an evil look
  (id, random) => ({
    line: `{"id":"${id}","type":"abort",${pick(random, [
      '"__proto__":{"polluted":1}',
      '"constructor":{"prototype":{"polluted":1}}',
      '"type":"abort"',
      '"x":"\u2028\u2029\u0085"',
      '"x":"\\u0000\\ud800"',
      `"x":${"[".repeat(120)}${"]".repeat(120)}`,
    ])}}${pick(random, ["", "\r", " ", " \t"])}`,
    owed: id,
  }),
];

const unknownTypes = [
  "",
  "frobnicate",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "GET_STATE",
  "get_state ",
  "parse",
  "response",
  "ready",
  "x".repeat(3000),
];
const strangeIds = ["null", "true", "[]", '{"a":1}', "1.5", "1e400", `"${"x".repeat(600)}"`];
const badArguments = [
  { type: "prompt" },
  { type: "prompt", message: null },
  { type: "prompt", message: { toString: 1 } },
  { type: "prompt", message: "x", images: "y" },
  { type: "prompt", message: "x", images: [{ type: "image" }] },
  { type: "prompt", message: "x", streamingBehavior: "later" },
  { type: "steer", message: 7 },
  { type: "follow_up", message: ["x"] },
  { type: "abort_and_prompt", message: false },
  { type: "set_model", provider: "galley" },
  { type: "set_model", provider: 1, modelId: 2 },
  { type: "set_steering_mode", mode: "__proto__" },
  { type: "set_interrupt_mode" },
  { type: "negotiate_protocol", protocolVersion: "2" },
  { type: "negotiate_protocol", protocolVersion: 2, features: [1] },
];

function garbage(random) {
  return Array.from({ length: between(random, 1, 60) }, () =>
    pick(random, [
      "a",
      "7",
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "\\",
      "'",
      " ",
      "é",
      "प",
      "🙂",
      "\u2028",
      "\u0085",
      "\u0001",
    ]),
  ).join("");
}

/** Any bytes but LF, behind one that begins no character. */
function binary(random) {
  const bytes = Buffer.alloc(between(random, 2, 80), 0xff);
  for (let index = 1; index < bytes.length; index++) bytes[index] = between(random, 11, 256);
  return bytes;
}

function truncated(line, random) {
  return line.slice(0, between(random, 1, line.length));
}

function withBadBytes(id, random) {
  const bad = pick(random, [[0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe0, 0xa4], [0x80]]);
  return Buffer.concat([Buffer.from(`{"id":"${id}","type":"abort","x":"`), Buffer.from(bad), Buffer.from('"}')]);
}

function nested(levels) {
  return `{"type":"abort","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

function wideObject(keys) {
  return `{"type":"abort",${Array.from({ length: keys }, (_, key) => `"${key}":0`).join(",")}}`;
}

function pick(random, list) {
  return list[Math.floor(random() * list.length)];
}

/** From `low` up to but not including `high`. */
function between(random, low, high) {
  return low + Math.floor(random() * (high - low));
}

/** Mulberry32: small, quick and good enough to mix test data. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
