// A mount plan as arguments of bubblewrap. They go through a descriptor, never through the command line, which other
// users can read: the command's environment is among them.

import type { MountStep } from "./mount-plan.js";

export interface BubblewrapOptions {
  readonly steps: readonly MountStep[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly hasOwnNetwork: boolean;
  /** Of /proc, by name: what root owns there can be written without any capability. */
  readonly readOnlyProcesses: readonly string[];
  /** Something empty to cover things with: canonical paths outside. */
  readonly emptyDirectory: string;
  readonly emptyFile: string;
  /** Descriptors. */
  readonly info: number;
  readonly filter: number | undefined;
}

export function bubblewrapArguments(options: BubblewrapOptions): string[] {
  const { uid, gid } = options.user;
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...(options.hasOwnNetwork ? ["--unshare-net"] : []),
    ...["--uid", String(uid), "--gid", String(gid), "--cap-drop", "ALL", "--die-with-parent"],
    ...["--info-fd", String(options.info)],
    ...(options.filter === undefined ? [] : ["--seccomp", String(options.filter)]),
    "--clearenv",
    ...Object.entries(options.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--ro-bind", "/", "/"],
    ...options.steps.flatMap((step) => stepArguments(step, options)),
    // Only now, since what is visible in them was mounted into them.
    ...options.steps.flatMap((step) => (step.kind === "empty" && !step.isWritable ? ["--remount-ro", step.path] : [])),
    ...["--chdir", options.cwd],
  ];
}

function stepArguments(step: MountStep, options: BubblewrapOptions): string[] {
  const { path } = step;
  switch (step.kind) {
    case "devices":
      return ["--dev", path];
    case "processes":
      return ["--proc", path, ...options.readOnlyProcesses.flatMap((name) => ["--ro-bind", name, name])];
    case "empty":
      return ["--tmpfs", path];
    case "cover":
      return ["--ro-bind", coverSource(step.type, options), path];
    case "bind":
      return [step.isWritable ? "--bind" : "--ro-bind", path, path];
  }
}

function coverSource(type: "directory" | "file" | "socket", options: BubblewrapOptions): string {
  if (type === "directory") return options.emptyDirectory;
  return type === "file" ? options.emptyFile : "/dev/null";
}
