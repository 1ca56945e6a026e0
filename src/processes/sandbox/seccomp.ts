// The system-call filter of a confined command, as bytes: classic BPF, assembled here, so that no library is needed. It
// refuses what a command could use to leave its namespaces or to reach into other processes.

export type FilterArchitecture = "x64" | "arm64";

export interface FilterOptions {
  /** No UNIX sockets, and no datagram pairs: those can be sent to a path as well. */
  readonly refusesUnixSockets: boolean;
}

/** The program for `bwrap --seccomp`: eight bytes for each instruction. */
export function seccompFilter(architecture: FilterArchitecture, { refusesUnixSockets }: FilterOptions): Uint8Array {
  const { audit, numbers } = architectures[architecture];
  const number = (name: SystemCall) => numbers[name];
  const denied = refused.map(number).filter((value) => value !== undefined);
  return assemble([
    load(architectureOffset),
    ifEqual(audit, "next", "kill"),
    load(numberOffset),
    // x32 calls carry this bit, and another set of numbers behind it.
    ...(architecture === "x64" ? [ifAtLeast(x32Bit, "refuse", "next")] : []),
    ...denied.map((value) => ifEqual(value, "refuse", "next")),
    ifEqual(number("clone3"), "missing", "next"),
    ...checkArgument(number("unshare"), [load(argument(0)), ifAnyBit(newUser, "refuse", "allow")]),
    ...checkArgument(number("clone"), [load(argument(0)), ifAnyBit(newUser, "refuse", "allow")]),
    // The system takes 32 bits of the request, so the upper ones must not count here either.
    ...checkArgument(number("ioctl"), [
      load(argument(1)),
      ifEqual(terminalInput, "refuse", "next"),
      ifEqual(terminalLinux, "refuse", "allow"),
    ]),
    ...(refusesUnixSockets
      ? [
          ...checkArgument(number("socket"), [load(argument(0)), ifEqual(unixFamily, "refuse", "allow")]),
          ...checkArgument(number("socketpair"), [
            load(argument(0)),
            ifEqual(unixFamily, "next", "allow"),
            load(argument(1)),
            keepBits(0xf),
            ifEqual(stream, "allow", "next"),
            ifEqual(sequenced, "allow", "refuse"),
          ]),
        ]
      : []),
  ]);
}

/** Undefined where the machine is neither: then there is no filter. */
export function filterArchitecture(architecture: string): FilterArchitecture | undefined {
  return architecture === "x64" || architecture === "arm64" ? architecture : undefined;
}

type SystemCall = (typeof refused)[number] | (typeof examined)[number];

const refused = [
  ...(["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"] as const),
  ...(["mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount"] as const),
  ...(["fspick", "mount_setattr", "open_tree_attr", "setns"] as const),
  ...(["bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl"] as const),
  ...(["io_uring_setup", "io_uring_enter", "io_uring_register"] as const),
] as const;
const examined = ["clone", "clone3", "unshare", "ioctl", "socket", "socketpair"] as const;

/** Calls since 2018 have the same number everywhere. */
const common = {
  pidfd_getfd: 438,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  open_tree_attr: 467,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  clone3: 435,
};

const architectures: Record<
  FilterArchitecture,
  { readonly audit: number; readonly numbers: Readonly<Record<SystemCall, number>> }
> = {
  x64: {
    audit: 0xc000003e,
    numbers: {
      ...common,
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      setns: 308,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      clone: 56,
      unshare: 272,
      ioctl: 16,
      socket: 41,
      socketpair: 53,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    numbers: {
      ...common,
      ptrace: 117,
      process_vm_readv: 270,
      process_vm_writev: 271,
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      setns: 268,
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      unshare: 97,
      ioctl: 29,
      socket: 198,
      socketpair: 199,
    },
  },
};

const x32Bit = 0x40000000;
const newUser = 0x10000000; // CLONE_NEWUSER
const terminalInput = 0x5412; // TIOCSTI
const terminalLinux = 0x541c; // TIOCLINUX
const unixFamily = 1;
/** The pairs that stay a pair. A datagram socket can be sent to any path, and a raw one is a datagram socket here. */
const stream = 1;
const sequenced = 5;

/** Where the kernel puts what a filter sees. Both architectures are little-endian: the lower half comes first. */
const numberOffset = 0;
const architectureOffset = 4;
const argument = (index: number) => 16 + 8 * index;

/** The ends of the program, in this order. */
const ends = { allow: 0x7fff0000, refuse: 0x00050001, missing: 0x00050026, kill: 0x80000000 } as const;
type Target = keyof typeof ends | "next" | { readonly skip: number };

interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly onTrue?: Target;
  readonly onFalse?: Target;
}

function load(offset: number): Instruction {
  return { code: 0x20, value: offset };
}

function keepBits(mask: number): Instruction {
  return { code: 0x54, value: mask };
}

function ifEqual(value: number, onTrue: Target, onFalse: Target): Instruction {
  return { code: 0x15, value, onTrue, onFalse };
}

function ifAtLeast(value: number, onTrue: Target, onFalse: Target): Instruction {
  return { code: 0x35, value, onTrue, onFalse };
}

function ifAnyBit(value: number, onTrue: Target, onFalse: Target): Instruction {
  return { code: 0x45, value, onTrue, onFalse };
}

/** What follows is skipped for other calls, and ends for this one: the number is no longer loaded then. */
function checkArgument(number: number, checks: readonly Instruction[]): Instruction[] {
  return [ifEqual(number, "next", { skip: checks.length }), ...checks];
}

function assemble(instructions: readonly Instruction[]): Uint8Array {
  const names = Object.keys(ends) as (keyof typeof ends)[];
  const bytes = Buffer.alloc(8 * (instructions.length + names.length));
  const write = (index: number, code: number, jumps: readonly [number, number], value: number) => {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(jumps[0], 8 * index + 2); // throws for a jump that is too far
    bytes.writeUInt8(jumps[1], 8 * index + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4);
  };
  const distance = (target: Target | undefined, index: number) => {
    if (target === undefined || target === "next") return 0;
    if (typeof target === "object") return target.skip;
    return instructions.length + names.indexOf(target) - index - 1;
  };
  for (const [index, { code, value, onTrue, onFalse }] of instructions.entries())
    write(index, code, [distance(onTrue, index), distance(onFalse, index)], value);
  for (const [index, name] of names.entries()) write(instructions.length + index, 0x06, [0, 0], ends[name]);
  return bytes;
}
