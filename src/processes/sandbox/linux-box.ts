// A box on Linux: looks at the machine and at the project right before a command, and puts the command line together for
// bubblewrap or for the namespaces script.

import { lstatSync, readFileSync, statSync } from "node:fs";
import { GalleyError } from "../../base/errors.js";
import type { CommandLine } from "../shell.js";
import type { Box, BoxedCommand, BoxPlace, BoxRules } from "./box.js";
import { boxEnvironment } from "./box-environment.js";
import { planBox, worktreeDirectories } from "./box-mounts.js";
import { boxedCommand, Descriptors } from "./boxed-command.js";
import { bubblewrapArguments } from "./bubblewrap.js";
import type { MachinePlaces } from "./hidden-paths.js";
import { innerCommand } from "./inner-script.js";
import type { MountStep } from "./mount-plan.js";
import { type Mount, readOnlyOptions, visibleMounts } from "./mount-table.js";
import { namespacesCommand, namespacesScript } from "./namespaces.js";
import type { SandboxPrograms } from "./programs.js";
import { noProtection, protect } from "./protection.js";
import { filterArchitecture, seccompFilter } from "./seccomp.js";
import { type SandboxState, sandboxState } from "./state.js";

export interface LinuxMechanism {
  readonly mechanism: "bubblewrap" | "namespaces";
  readonly programs: SandboxPrograms;
  readonly machine: MachinePlaces;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly architecture: string;
  /** Of the network gate. */
  readonly node: string;
}

export function linuxBox(rules: BoxRules, mechanism: LinuxMechanism): Box {
  return { wrap: async (command, place) => wrapCommand({ rules, mechanism, command, place }) };
}

interface Wrapping {
  readonly rules: BoxRules;
  readonly mechanism: LinuxMechanism;
  readonly command: CommandLine;
  readonly place: BoxPlace;
}

function wrapCommand(wrapping: Wrapping): BoxedCommand {
  const { rules, mechanism, command, place } = wrapping;
  checkDirectory(place.cwd, rules.viewHolder);
  const gate = typeof rules.network === "object" ? rules.network : undefined;
  const state = sandboxState(rules.agentDir);
  const gitDirectories = worktreeDirectories(rules);
  const protection =
    rules.mode === "workspace" && rules.viewHolder === undefined
      ? protect({ roots: rules.roots, gitDirectories, cwd: place.cwd, home: rules.home }, state.stubs)
      : noProtection;
  try {
    const { machine, node } = mechanism;
    const descriptors = new Descriptors({ hasError: !command.mergesOutput, hasChannel: gate !== undefined });
    const parts: WrapParts = {
      ...wrapping,
      state,
      descriptors,
      steps: planBox({ rules, machine, cwd: place.cwd, gitDirectories, places: protection.places, node }),
      env: boxEnvironment(place.env, { tempDir: rules.tempDir, gate: gate?.env }),
      inner: innerCommand(command, {
        start: descriptors.start,
        error: descriptors.error,
        channel: descriptors.channel,
        bash: mechanism.programs.bash,
        node,
        listenScript: gate?.listenScript,
      }),
    };
    const words = mechanism.mechanism === "bubblewrap" ? inBubblewrap(parts) : inNamespaces(parts);
    const [file = "", ...args] = [...enterView(wrapping), ...words];
    return boxedCommand({
      command: { file, args, mergesOutput: command.mergesOutput },
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      descriptors,
      gate,
      cleanUp: () => protection.undo(),
    });
  } catch (error) {
    protection.undo();
    throw error;
  }
}

interface WrapParts extends Wrapping {
  readonly state: SandboxState;
  readonly descriptors: Descriptors;
  readonly steps: readonly MountStep[];
  readonly env: Readonly<Record<string, string>>;
  readonly inner: readonly string[];
}

function inBubblewrap({ rules, mechanism, place, state, descriptors, steps, env, inner }: WrapParts): string[] {
  const { programs, user } = mechanism;
  const architecture = filterArchitecture(mechanism.architecture);
  const refusesUnixSockets = rules.unixSockets === "none";
  if (architecture === undefined && refusesUnixSockets) throw cannotRefuseSockets();
  const args = bubblewrapArguments({
    steps,
    env,
    user,
    cwd: place.cwd,
    hasOwnNetwork: rules.network !== "on",
    readOnlyProcesses: rootOwned(),
    emptyDirectory: state.emptyDirectory,
    emptyFile: state.emptyFile,
    info: descriptors.addInfo(),
    filter:
      architecture === undefined
        ? undefined
        : descriptors.addInput(seccompFilter(architecture, { refusesUnixSockets })),
  });
  descriptors.giveInput(args.map((word) => `${word}\0`).join(""));
  const bubblewrap = [programs.bubblewrap as string, "--args", "3", "--", ...inner];
  return user.uid === 0 && programs.namespaces !== undefined
    ? [...withFixedDevices(programs.namespaces, rules), ...bubblewrap]
    : bubblewrap;
}

/** Root owns the device nodes that bubblewrap binds, and could change their modes for the whole machine. */
function withFixedDevices({ unshare, mount }: { unshare: string; mount: string }, rules: BoxRules): string[] {
  const devices = mountsOf(rules.viewHolder).find(({ path }) => path === "/dev") ?? { path: "/dev", options: [] };
  const script = '"$0" -o "$1" /dev /dev && shift && exec "$@"';
  return [
    ...[unshare, "--user", "--map-root-user", "--mount", "--"],
    ...["/bin/sh", "-c", script, mount, readOnlyOptions(devices, "rbind")],
  ];
}

function inNamespaces({ rules, mechanism, place, state, descriptors, steps, env, inner }: WrapParts): string[] {
  const programs = mechanism.programs.namespaces as NonNullable<SandboxPrograms["namespaces"]>;
  if (rules.unixSockets === "none") throw cannotRefuseSockets();
  const hasOwnNetwork = rules.network !== "on";
  descriptors.giveInput((mountTable) =>
    namespacesScript({
      steps,
      env,
      programs,
      hasOwnNetwork,
      user: mechanism.user,
      cwd: place.cwd,
      command: inner,
      mounts: visibleMounts(mountTable).filter(({ path }) => canReach(path)),
      mountTable,
      readOnlyProcesses: rootOwned(),
      emptyDirectory: state.emptyDirectory,
      emptyFile: state.emptyFile,
      rootDirectory: state.rootDirectory,
    }),
  );
  return namespacesCommand(programs, hasOwnNetwork);
}

/** The view is a user and a mount namespace: both are entered, and the box is made inside of them. */
function enterView({ rules, mechanism }: Wrapping): string[] {
  if (rules.viewHolder === undefined) return [];
  const { nsenter } = mechanism.programs;
  if (nsenter === undefined) throw new GalleyError("start_failed", "The staged view needs nsenter of util-linux.");
  return [nsenter, "--preserve-credentials", "--user", "--mount", "--target", String(rules.viewHolder), "--"];
}

function mountsOf(process: number | undefined): Mount[] {
  return visibleMounts(readFileSync(`/proc/${process ?? "self"}/mountinfo`, "utf8"));
}

/** What galley cannot reach, no command of the same user can. */
function canReach(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** What root can write without a capability, because it owns it. */
const ownedByRoot = ["sys", "sysrq-trigger", "irq", "bus", "acpi", "fs", "driver", "scsi", "mtrr", "dynamic_debug"];
let foundRootOwned: readonly string[] | undefined;

function rootOwned(): readonly string[] {
  foundRootOwned ??= ownedByRoot.map((name) => `/proc/${name}`).filter(canReach);
  return foundRootOwned;
}

function checkDirectory(cwd: string, viewHolder: number | undefined): void {
  const seen = viewHolder === undefined ? cwd : `/proc/${viewHolder}/root${cwd}`;
  if (statSync(seen, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new GalleyError("start_failed", `Working directory does not exist: ${cwd}`);
}

function cannotRefuseSockets(): GalleyError {
  return new GalleyError(
    "start_failed",
    "bash.unixSockets is none, and only bubblewrap on x64 and arm64 can refuse UNIX sockets.",
  );
}
