// The same without bubblewrap: a shell text that the first process of the namespaces runs, with the programs of util-linux.
// It builds a new root and moves into it. Any step that fails ends it, and at the end the kernel's own list of mounts must
// be as planned: a `mount` that only says it worked changes nothing about that list.

import { randomUUID } from "node:crypto";
import type { BubblewrapOptions } from "./bubblewrap.js";
import type { MountStep } from "./mount-plan.js";
import { escaped, type Mount, mountPaths, readOnlyOptions } from "./mount-table.js";

export interface NamespacesOptions extends Omit<BubblewrapOptions, "emptyDirectory" | "info" | "filter"> {
  /** Visible ones of its own namespace, without those that galley itself cannot reach. */
  readonly mounts: readonly Mount[];
  /** All of them, as the kernel tells it. */
  readonly mountTable: string;
  /** Something empty to cover things with, and a directory to build the new root on: canonical paths outside. */
  readonly emptyDirectory: string;
  readonly rootDirectory: string;
  readonly programs: NamespacesPrograms;
  readonly command: readonly string[];
}

export interface NamespacesPrograms {
  readonly unshare: string;
  readonly mount: string;
  readonly umount: string;
  readonly setpriv: string;
  readonly pivotRoot: string;
  readonly mkdir: string;
  readonly touch: string;
  readonly ln: string;
  readonly cat: string;
  /** Brings up the loopback of a new network: words of a command; undefined where no program can. */
  readonly loopback: readonly string[] | undefined;
}

/**
 * The shell reads its text from descriptor 3, because it holds the command's environment. First it tells there which mounts
 * its namespace has, up to an empty line: outside any program may mount and unmount until then, and from now on none.
 */
export function namespacesCommand(programs: NamespacesPrograms, hasOwnNetwork: boolean): string[] {
  const cat = quoted(programs.cat);
  return [
    ...[programs.setpriv, "--pdeathsig", "KILL", "--", programs.unshare, "--user", "--map-root-user", "--mount"],
    ...["--pid", "--fork", "--kill-child", "--ipc", "--uts", ...(hasOwnNetwork ? ["--net"] : []), "--"],
    ...[
      "/bin/sh",
      "-c",
      `${cat} /proc/self/mountinfo >&3 && echo >&3 && text=$(${cat} <&3) && exec 3<&- && eval "$text"`,
    ],
    "galley-box",
  ];
}

export function namespacesScript(options: NamespacesOptions): string {
  const { programs, steps, user, rootDirectory: top } = options;
  const { loopback } = programs;
  const madeReadOnly = options.mounts.filter((mount) => becomesReadOnly(mount, steps));
  const readOnlyLine = (mount: Mount) =>
    `fix ${readOnlyOptions(mount, "remount,bind")} ${below(mount.path)} ${quoted(escaped(mount.path === "/" ? top : top + mount.path))}`;
  return [
    'fail() { echo "$1" >&2; exit 1; }',
    // The last argument is where.
    `mounts() { ${quoted(programs.mount)} "$@" >&2 || { shift $(($# - 1)); fail "cannot mount $1"; }; }`,
    // A mount goes also here when another process removes its place outside.
    'gone() { while read -r _ _ _ _ place _; do [ "$place" != "$1" ] || return 1; done </proc/self/mountinfo; }',
    `fix() { ${quoted(programs.mount)} -o "$1" "$2" >&2 || gone "$3" || fail "cannot mount $2"; }`,
    `place() { if [ -d "$1" ]; then ${quoted(programs.mkdir)} -p "$2"; else ${quoted(programs.mkdir)} -p "\${2%/*}" && ${quoted(programs.touch)} "$2"; fi || fail "cannot make $2"; }`,
    // File systems of ours have a name that no other has: a mount at the same path proves nothing.
    `top=${quoted(top)} name=galley-${randomUUID()}`,
    // Unbindable: what is copied into it must not contain it again.
    'mounts --rbind --make-unbindable / "$top"',
    // Before a new file system hides them: one that is shown again above it is another mount at the same path, and the
    // check at the end, which goes by paths, could not tell them apart.
    ...madeReadOnly
      .filter(({ path }) => steps.some((step) => isNew(step) && isWithin(path, step.path)))
      .map(readOnlyLine),
    ...steps.flatMap((step) => stepLines(step, options)),
    ...madeReadOnly.map(readOnlyLine),
    ...steps.flatMap((step) =>
      step.kind === "empty" && !step.isWritable ? [`mounts -o remount,bind,ro,nosuid,nodev ${below(step.path)}`] : [],
    ),
    // No namespace can be made but the one for the command, in which its user is who it was.
    `echo 1 > "$top/proc/sys/user/max_user_namespaces" || fail "cannot limit user namespaces"`,
    ...options.readOnlyProcesses.map((path) => `mounts -o rbind,ro,nosuid,nodev,noexec "$top${path}" "$top${path}"`),
    `cd "$top" && ${quoted(programs.pivotRoot)} . . && ${quoted(programs.umount)} -l . && cd / || fail "cannot change the root"`,
    ...checkLines(options),
    ...(loopback === undefined || !options.hasOwnNetwork ? [] : [`${loopback.map(quoted).join(" ")} >&2`]),
    `cd ${quoted(options.cwd)} || fail "cannot enter the working directory"`,
    // The helper's own; the command's are among those that follow.
    "unset PATH OLDPWD",
    ...exports(options.env),
    [
      ...[programs.unshare, "--user", "--keep-caps", `--map-user=${user.uid}`, `--map-group=${user.gid}`, "--"],
      ...[programs.setpriv, "--ambient-caps=-all", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"],
      ...options.command,
    ]
      .map(quoted)
      .join(" "),
    // A line of its own keeps the shell: the first process of a PID namespace must not be the command.
    "exit $?",
  ].join("\n");
}

function stepLines(
  step: MountStep,
  { steps, mounts, emptyDirectory, emptyFile, programs }: NamespacesOptions,
): string[] {
  const { path } = step;
  const to = below(path);
  const needsPlace = isOnNewGround(step, steps) ? [`place ${quoted(path)} ${to}`] : [];
  switch (step.kind) {
    case "devices":
      return deviceLines(programs);
    case "processes":
      return [`mounts -t proc -o nosuid,nodev,noexec "$name" ${to}`];
    case "empty":
      return [`mounts -t tmpfs -o nosuid,nodev,mode=${step.isWritable ? "1777" : "0755"} "$name" ${to}`];
    case "cover": {
      const source = { directory: emptyDirectory, file: emptyFile, socket: "/dev/null" }[step.type];
      return [`mounts -o bind,ro,nosuid,nodev,noexec ${quoted(source)} ${to}`];
    }
    case "bind": {
      if (step.isWritable) return [...needsPlace, `mounts --rbind ${quoted(path)} ${to}`];
      const around = mounts.findLast((mount) => isWithin(path, mount.path)) ?? { path: "/", options: [] };
      return [...needsPlace, `mounts -o ${readOnlyOptions(around, "rbind")} ${quoted(path)} ${to}`];
    }
  }
}

/** Read-only, each by itself: root owns the nodes outside, and could change their modes. */
function deviceLines({ mkdir, touch, ln }: NamespacesPrograms): string[] {
  const names = ["null", "zero", "full", "random", "urandom", "tty"];
  const nodes = names.map((name) => `"$top/dev/${name}"`).join(" ");
  return [
    'mounts -t tmpfs -o nosuid,mode=0755 "$name" "$top/dev"',
    `${quoted(mkdir)} "$top/dev/pts" && ${quoted(mkdir)} -m 1777 "$top/dev/shm" && ${quoted(touch)} ${nodes} || fail "cannot make /dev"`,
    ...names.map((name) => `mounts -o bind,ro,nosuid,noexec /dev/${name} "$top/dev/${name}"`),
    'mounts -t devpts -o newinstance,ptmxmode=0666,mode=0620,nosuid,noexec devpts "$top/dev/pts"',
    ...[
      ["/proc/self/fd", "fd"],
      ["/proc/self/fd/0", "stdin"],
      ["/proc/self/fd/1", "stdout"],
      ["/proc/self/fd/2", "stderr"],
      ["pts/ptmx", "ptmx"],
    ].map(([target, name]) => `${quoted(ln)} -s ${target} "$top/dev/${name}"`),
  ];
}

/**
 * Every step must be in the list, and only what was meant to be writable may be so. What a cover hides is in the list too
 * and stays as it was: no path leads there. So does what was hidden before, and what the user cannot reach.
 */
function checkLines({ steps, mounts, mountTable, readOnlyProcesses, programs }: NamespacesOptions): string[] {
  const reached = new Set(mounts.map(({ path }) => path));
  const mayBeWritable = [
    ...steps
      .filter((step) => step.kind !== "cover" && !(step.kind === "bind" && !step.isWritable))
      .map(({ path }) => path),
    ...mounts.filter((mount) => !becomesReadOnly(mount, steps)).map(({ path }) => path),
    ...mountPaths(mountTable).filter((path) => !reached.has(path)),
    "/dev/pts",
  ].filter((path) => path !== "/");
  const needed = [...steps.filter((step) => !isNew(step)).map(({ path }) => path), ...readOnlyProcesses];
  const filled = steps.filter(isNew).map(({ path }) => path);
  return [
    `writable=${quoted(`\n${mayBeWritable.map(escaped).join("\n")}\n`)} seen='\n'`,
    "set -f; IFS='\n'",
    `table=$(${quoted(programs.cat)} /proc/self/mountinfo) || fail "cannot read the mounts"`,
    // Of two at one place only the newer one can be reached, which stands on the other: its parent.
    "stacked='\n'; for line in $table; do IFS=' '; set -- $line; stacked=\"$stacked$2 $5\n\"; done; IFS='\n'",
    "for line in $table; do",
    "  IFS=' '; set -- $line",
    '  seen="$seen$5 \n"',
    '  case $line in *" - "*" $name "*) seen="$seen$5 $name\n" ;; esac',
    '  case ",$6," in *,ro,*) continue ;; esac',
    '  case $writable$stacked in *"\n$5\n"* | *"\n$1 $5\n"*) ;; *) fail "$5 is writable" ;; esac',
    "done",
    "IFS='\n'",
    `needed=${quoted(needed.map(escaped).join("\n"))} filled=${quoted(filled.map(escaped).join("\n"))}`,
    'for path in $needed; do case $seen in *"\n$path \n"*) ;; *) fail "$path is not mounted" ;; esac; done',
    'for path in $filled; do case $seen in *"\n$path $name\n"*) ;; *) fail "$path is not new" ;; esac; done',
    "IFS=' \t\n'; set +f; set --",
  ];
}

/** A file system of its own, which hides what was there. */
function isNew({ kind }: MountStep): boolean {
  return kind !== "bind" && kind !== "cover";
}

/** In the tree outside of covers, and not inside of something writable. */
function becomesReadOnly(mount: Mount, steps: readonly MountStep[]): boolean {
  if (!mount.options.includes("rw")) return false;
  const around = steps.findLast((step) => isWithin(mount.path, step.path));
  if (around === undefined) return true;
  return around.kind === "bind" && !around.isWritable && around.path !== mount.path;
}

/** A new file system has no place to mount something on. */
function isOnNewGround(step: MountStep, steps: readonly MountStep[]): boolean {
  const around = steps.findLast(
    (other) => other !== step && isWithin(step.path, other.path) && other.path !== step.path,
  );
  return around !== undefined && (around.kind === "empty" || around.kind === "devices");
}

/** A shell can export only what it could name itself, and some names are its own. */
function exports(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env)
    .filter(
      ([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/^(?:UID|EUID|PPID|IFS|BASHOPTS|SHELLOPTS)$/.test(name),
    )
    .map(([name, value]) => `export ${name}=${quoted(value)}`);
}

function below(path: string): string {
  return `"$top"${quoted(path)}`;
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/** A word of the shell. Our paths, and values of the environment: neither holds a NUL. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
