// The programs that confine, found outside of the project.

import { findProgram, type ProgramSearch } from "../shell.js";
import type { NamespacesPrograms } from "./namespaces.js";

export interface SandboxPrograms {
  /** On PATH, as the user has it: hiding it there is the way not to use it. */
  readonly bubblewrap: string | undefined;
  readonly namespaces: NamespacesPrograms | undefined;
  readonly nsenter: string | undefined;
  readonly bash: string | undefined;
  readonly sandboxExec: string | undefined;
}

/** The system's places first: PATH may begin with a folder of the user's own programs. */
const systemPlaces = "/bin:/usr/bin:/sbin:/usr/sbin";

export function findSandboxPrograms(search: ProgramSearch, systemPath = systemPlaces): SandboxPrograms {
  const find = (name: string) =>
    findProgram(name, { path: systemPath, projectRoot: undefined }) ?? findProgram(name, search);
  return {
    bubblewrap: findProgram("bwrap", search),
    namespaces: findNamespacesPrograms(find),
    nsenter: find("nsenter"),
    bash: find("bash"),
    sandboxExec: find("sandbox-exec"),
  };
}

function findNamespacesPrograms(find: (name: string) => string | undefined): NamespacesPrograms | undefined {
  const names = {
    unshare: "unshare",
    mount: "mount",
    umount: "umount",
    setpriv: "setpriv",
    pivotRoot: "pivot_root",
    mkdir: "mkdir",
    touch: "touch",
    ln: "ln",
    cat: "cat",
  };
  const found = Object.entries(names).map(([key, name]) => [key, find(name)] as const);
  if (found.some(([, file]) => file === undefined)) return undefined;
  return { ...(Object.fromEntries(found) as Record<keyof typeof names, string>), loopback: findLoopback(find) };
}

/** A new network has a loopback that is down. The kernel offers a call for it, and any of these programs makes it. */
function findLoopback(find: (name: string) => string | undefined): readonly string[] | undefined {
  const ip = find("ip");
  if (ip !== undefined) return [ip, "link", "set", "lo", "up"];
  const ifconfig = find("ifconfig");
  if (ifconfig !== undefined) return [ifconfig, "lo", "up"];
  const perl = find("perl");
  if (perl !== undefined) return [perl, "-e", perlLoopback];
  const python = find("python3");
  return python === undefined ? undefined : [python, "-I", "-c", pythonLoopback];
}

/** SIOCSIFFLAGS with IFF_UP, for `lo`. */
const perlLoopback =
  'socket(my $s, 2, 2, 0) or die; my $r = pack("a16 s x22", "lo", 1); ioctl($s, 0x8914, $r) or die "$!"';
const pythonLoopback =
  "import fcntl, socket, struct; fcntl.ioctl(socket.socket(2, 2), 0x8914, struct.pack('16sh22x', b'lo', 1))";
