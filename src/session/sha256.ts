// SHA-256 of a short text, without node:crypto: naming a session's directory and lock is on the way to the first
// answer, and loading that module would take five milliseconds there. Anything longer than a path belongs to it.

export function sha256Hex(text: string): string {
  const message = Buffer.from(text, "utf8");
  const blocks = Math.ceil((message.length + 9) / 64);
  const padded = Buffer.alloc(blocks * 64);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeBigUInt64BE(BigInt(message.length) * 8n, padded.length - 8);

  const state = primeRoots(8, 1 / 2);
  const constants = primeRoots(64, 1 / 3);
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.length; offset += 64) {
    for (let index = 0; index < 16; index++) schedule[index] = padded.readUInt32BE(offset + index * 4);
    addBlock(state, schedule, constants);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function addBlock(state: Uint32Array, schedule: Uint32Array, constants: Uint32Array): void {
  const word = (index: number) => schedule[index] as number;
  for (let index = 16; index < 64; index++) {
    const early = word(index - 15);
    const late = word(index - 2);
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = word(index - 16) + first + word(index - 7) + second;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const choice = (e & f) ^ (~e & g);
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + mixed + choice + (constants[index] as number) + word(index)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + value;
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
