// SHA-256 of a short text, without node:crypto: naming a session's directory and lock is on the way to the first
// answer, and loading that module would take five milliseconds there. Anything longer than a path belongs to it.

/** The standard's constants: the first 32 bits of the fractions of square and cube roots of the first primes. */
const firstState = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const constants = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

export function sha256Hex(text: string): string {
  const message = Buffer.from(text, "utf8");
  const { length } = message;
  const words = Math.ceil((length + 9) / 64) * 16;
  const byteAt = (index: number) => (index === length ? 0x80 : (message[index] ?? 0));
  const state = firstState.map((word) => word | 0);
  const schedule: number[] = [];
  for (let offset = 0; offset < words; offset += 16) {
    for (let index = 0; index < 16; index++) {
      const at = (offset + index) * 4;
      schedule[index] = (byteAt(at) << 24) | (byteAt(at + 1) << 16) | (byteAt(at + 2) << 8) | byteAt(at + 3);
    }
    if (offset + 16 === words) schedule[15] = length * 8;
    addBlock(state, schedule);
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Plain steps and variables: this mostly runs once, before any compiler has looked at it. */
function addBlock(state: number[], schedule: number[]): void {
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15] as number;
    const late = schedule[index - 2] as number;
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = ((schedule[index - 16] as number) + first + (schedule[index - 7] as number) + second) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let round = 0; round < 64; round++) {
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + mixed + choice + (constants[round] as number) + (schedule[round] as number)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = ((state[index] as number) + word) | 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
