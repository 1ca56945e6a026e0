import { describe, expect, test } from "vitest";
import { type FilterArchitecture, filterArchitecture, seccompFilter } from "./seccomp.js";

const allow = 0x7fff0000;
const refuse = 0x00050001;
const missing = 0x00050026;
const kill = 0x80000000;
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** What the kernel does with the program: 32-bit words of `struct seccomp_data`, classic BPF. */
function run(program: Uint8Array, call: { audit: number; number: number; args?: readonly bigint[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.audit, 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  const code = Buffer.from(program);
  let accumulator = 0;
  for (let at = 0; at < code.length; ) {
    const [operation, onTrue, onFalse, value] = [
      code.readUInt16LE(at),
      code.readUInt8(at + 2),
      code.readUInt8(at + 3),
      code.readUInt32LE(at + 4),
    ];
    at += 8;
    if (operation === 0x06) return value;
    if (operation === 0x20) accumulator = data.readUInt32LE(value);
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0;
    else {
      const holds = { 21: accumulator === value, 53: accumulator >= value, 69: (accumulator & value) !== 0 }[operation];
      if (holds === undefined) throw new Error(`an instruction that the kernel may not know: ${operation}`);
      at += 8 * (holds ? onTrue : onFalse);
    }
  }
  throw new Error("the program ran over its end");
}

const numbers = {
  x64: {
    read: 0,
    ptrace: 101,
    mount: 165,
    bpf: 321,
    clone: 56,
    unshare: 272,
    ioctl: 16,
    socket: 41,
    pair: 53,
    vm: 310,
  },
  arm64: {
    read: 63,
    ptrace: 117,
    mount: 40,
    bpf: 280,
    clone: 220,
    unshare: 97,
    ioctl: 29,
    socket: 198,
    pair: 199,
    vm: 270,
  },
} as const;

describe.each<FilterArchitecture>(["x64", "arm64"])("X-6: the filter for %s", (architecture) => {
  const open = seccompFilter(architecture, { refusesUnixSockets: false });
  const strict = seccompFilter(architecture, { refusesUnixSockets: true });
  const number = numbers[architecture];
  const ask = (call: number, args: readonly bigint[] = [], program = open) =>
    run(program, { audit: audit[architecture], number: call, args });

  test("allows what is not named", () => {
    expect(ask(number.read)).toBe(allow);
    expect(ask(number.clone, [0x11n])).toBe(allow);
    expect(ask(number.unshare, [0x400n])).toBe(allow);
    expect(ask(number.ioctl, [0n, 0x5401n])).toBe(allow);
    expect(ask(9999)).toBe(allow);
  });

  test("refuses what leads out, and answers clone3 as if it did not exist", () => {
    for (const call of [number.ptrace, number.mount, number.bpf, number.vm, 425, 426, 427, 428, 429, 438, 442, 467])
      expect(ask(call)).toBe(refuse);
    expect(ask(435)).toBe(missing);
  });

  test("refuses new user namespaces among other flags", () => {
    expect(ask(number.clone, [0x10000011n])).toBe(refuse);
    expect(ask(number.unshare, [0x10020000n])).toBe(refuse);
  });

  test("refuses terminal injection whatever the upper half of the request is", () => {
    expect(ask(number.ioctl, [0n, 0x5412n])).toBe(refuse);
    expect(ask(number.ioctl, [0n, 0xdead_0000_5412n])).toBe(refuse);
    expect(ask(number.ioctl, [0n, 0x541cn])).toBe(refuse);
  });

  test("refuses UNIX sockets only when asked, and lets pairs of streams be", () => {
    expect(ask(number.socket, [1n])).toBe(allow);
    expect(ask(number.socket, [1n], strict)).toBe(refuse);
    expect(ask(number.socket, [2n], strict)).toBe(allow);
    expect(ask(number.pair, [1n, 0x80801n], strict)).toBe(allow);
    expect(ask(number.pair, [1n, 5n], strict)).toBe(allow);
    for (const type of [2n, 3n, 0x80802n]) expect(ask(number.pair, [1n, type], strict)).toBe(refuse);
    expect(ask(number.pair, [2n, 2n], strict)).toBe(allow);
  });

  test("kills calls of another architecture", () => {
    const other = architecture === "x64" ? audit.arm64 : audit.x64;
    expect(run(open, { audit: other, number: number.read })).toBe(kill);
    expect(run(open, { audit: 0x40000003, number: number.read })).toBe(kill);
  });

  test("is a program of about seventy instructions", () => {
    expect(open.length % 8).toBe(0);
    expect(strict.length / 8).toBeLessThan(80);
  });
});

test("x32 calls are refused on x64", () => {
  const program = seccompFilter("x64", { refusesUnixSockets: false });
  expect(run(program, { audit: audit.x64, number: 0x40000000 + 520 })).toBe(refuse);
});

test("other machines have no filter", () => {
  expect([filterArchitecture("x64"), filterArchitecture("arm64"), filterArchitecture("riscv64")]).toEqual([
    "x64",
    "arm64",
    undefined,
  ]);
});
