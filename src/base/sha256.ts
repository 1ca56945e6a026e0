// SHA-256 of a short text, without node:crypto: naming a session's directory and lock is on the way to the first
// answer, and loading that module would take five milliseconds there. Anything longer than a path belongs to it.

export function sha256Hex(text: string): string {
  const message = Buffer.from(text, "utf8");
  const blocks = Math.ceil((message.length + 9) / 64);
  const padded = Buffer.alloc(blocks * 64);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeUInt32BE(message.length * 8, padded.length - 4);

  const state = primeRoots(8, 1 / 2);
  const constants = primeRoots(64, 1 / 3);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.length; offset += 64) {
    for (let index = 0; index < 16; index++) schedule[index] = padded.readUInt32BE(offset + index * 4);
    addBlock(state, schedule, constants);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Plain steps and no lists in the loops: this mostly runs once, before any compiler has looked at it. */
function addBlock(state: Uint32Array, schedule: Uint32Array, constants: Uint32Array): void {
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15] as number;
    const late = schedule[index - 2] as number;
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = (schedule[index - 16] as number) + first + (schedule[index - 7] as number) + second;
  }
  const words = Int32Array.from(state);
  const word = (index: number) => words[index] as number;
  for (let round = 0; round < 64; round++) {
    const e = word(4);
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & word(5)) ^ (~e & word(6));
    const first = word(7) + mixed + choice + (constants[round] as number) + (schedule[round] as number);
    const a = word(0);
    const majority = (a & word(1)) ^ (a & word(2)) ^ (word(1) & word(2));
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    words.copyWithin(1, 0, 7);
    words[4] = word(4) + first;
    words[0] = first + second;
  }
  for (let index = 0; index < 8; index++) state[index] = (state[index] as number) + word(index);
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The standard's constants: the first 32 bits of the fractions of square or cube roots of the first primes. */
function primeRoots(count: number, exponent: number): Uint32Array {
  const words = new Uint32Array(count);
  for (let candidate = 2, found = 0; found < count; candidate++) {
    if (!isPrime(candidate)) continue;
    words[found++] = Math.floor((candidate ** exponent % 1) * 2 ** 32);
  }
  return words;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) return false;
  return true;
}
