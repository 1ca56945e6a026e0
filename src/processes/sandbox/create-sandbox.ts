// The sandbox of this machine. The first use finds out once in a process which mechanism confines: bubblewrap, else the
// namespaces of the kernel with util-linux, on macOS sandbox-exec, else none, with the reason.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { makeOwnedDirectory, removeLeftDirectories } from "../../files/disk/owned-directories.js";
import type { Environment } from "../child-environment.js";
import type { Box, BoxRules, Sandbox, SandboxProbe } from "./box.js";
import { findMachinePlaces, type MachinePlaces } from "./hidden-paths.js";
import { type LinuxMechanism, linuxBox } from "./linux-box.js";
import { findSandboxPrograms, type SandboxPrograms } from "./programs.js";
import { sandboxExecBox } from "./sandbox-exec.js";
import { filterArchitecture } from "./seccomp.js";

export interface SandboxOptions {
  readonly env: Environment;
  /** No program that lies in it is used. */
  readonly projectRoot: string | undefined;
  /** Why a mechanism was not taken. */
  readonly log: Log;
  /** Where programs are looked up besides PATH; default: the system's places. */
  readonly systemPath?: string;
  readonly platform?: NodeJS.Platform;
  readonly architecture?: string;
}

export const noNamespacesReason = "User namespaces are not allowed here (container or kernel setting).";

export function createSandbox(options: SandboxOptions): Sandbox {
  let mechanism: Promise<Mechanism> | undefined;
  const find = () => {
    mechanism ??= findMechanism(options);
    return mechanism;
  };
  return {
    probe: async () => (await find()).probe,
    async box(rules) {
      const { probe, makeBox } = await find();
      if (makeBox === undefined) throw new GalleyError("unsupported", probe.reason ?? noNamespacesReason);
      return makeBox(rules);
    },
  };
}

interface Mechanism {
  readonly probe: SandboxProbe;
  readonly makeBox: ((rules: BoxRules) => Box) | undefined;
}

/** By what was found, because a process may have sessions in several projects. */
const probes = new Map<string, Promise<Mechanism>>();

async function findMechanism(options: SandboxOptions): Promise<Mechanism> {
  const { platform = process.platform, architecture = process.arch, env, projectRoot, log } = options;
  const programs = findSandboxPrograms({ path: env.PATH, projectRoot }, options.systemPath);
  const machine = findMachinePlaces(env);
  const key = JSON.stringify([platform, architecture, programs, machine]);
  let probe = probes.get(key);
  if (probe === undefined) {
    probe =
      platform === "linux" ? onLinux({ programs, machine, architecture, log }) : elsewhere(platform, programs, machine);
    probes.set(key, probe);
  }
  return probe;
}

interface Found extends Pick<LinuxMechanism, "programs" | "machine" | "architecture"> {
  readonly log: Log;
}

async function onLinux({ programs, machine, architecture, log }: Found): Promise<Mechanism> {
  const shared = { programs, machine, architecture, node: process.execPath, user: ownIds() };
  const problems: string[] = [];
  for (const mechanism of ["bubblewrap", "namespaces"] as const) {
    if (programs[mechanism] === undefined) continue;
    const makeBox = (rules: BoxRules) => linuxBox(rules, { ...shared, mechanism });
    const problem = await probeBox(makeBox);
    if (problem === undefined) return { probe: withReason(mechanism, shared, problems), makeBox };
    problems.push(problem);
    log.trace?.("info", `The sandbox does not use ${mechanism}: ${problem}`);
  }
  const hasPrograms = programs.bubblewrap !== undefined || programs.namespaces !== undefined;
  const reason = hasPrograms ? noNamespacesReason : "Neither bubblewrap nor util-linux is installed.";
  return { probe: { mechanism: "none", reason }, makeBox: undefined };
}

function withReason(
  mechanism: LinuxMechanism["mechanism"],
  { programs, architecture }: Omit<LinuxMechanism, "mechanism">,
  problems: readonly string[],
): SandboxProbe {
  const reasons: string[] = [];
  if (mechanism === "namespaces") {
    const [problem] = problems;
    reasons.push(problem === undefined ? "bubblewrap is not installed." : `bubblewrap does not work here: ${problem}`);
    reasons.push("System calls are not filtered.");
    if (programs.namespaces?.loopback === undefined)
      reasons.push("A command has no loopback: none of ip, ifconfig, perl and python3 is installed.");
  } else if (filterArchitecture(architecture) === undefined)
    reasons.push(`System calls are not filtered on ${architecture}.`);
  return reasons.length === 0 ? { mechanism } : { mechanism, reason: reasons.join(" ") };
}

async function elsewhere(
  platform: NodeJS.Platform,
  programs: SandboxPrograms,
  machine: MachinePlaces,
): Promise<Mechanism> {
  const { sandboxExec } = programs;
  if (platform !== "darwin" || sandboxExec === undefined) {
    const reason =
      platform === "darwin" ? "sandbox-exec is not installed." : `galley cannot confine commands on ${platform}.`;
    return { probe: { mechanism: "none", reason }, makeBox: undefined };
  }
  const makeBox = (rules: BoxRules) => sandboxExecBox(rules, { program: sandboxExec, bash: programs.bash, machine });
  const problem = await probeBox(makeBox);
  return problem === undefined
    ? { probe: { mechanism: "sandbox-exec" }, makeBox }
    : { probe: { mechanism: "none", reason: `sandbox-exec does not work here: ${problem}` }, makeBox: undefined };
}

function ownIds(): LinuxMechanism["user"] {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

// What this machine can do, found out by a real command in a real box: it must be able to write inside and must not be
// able to write outside. What a program is called, and what it says of itself, proves nothing.

const probeMs = 10_000;

/** Undefined: it confines. Otherwise why not. */
async function probeBox(makeBox: (rules: BoxRules) => Box): Promise<string | undefined> {
  await removeLeftDirectories("probe");
  const directory = makeOwnedDirectory("probe");
  try {
    const [inside, outside] = [join(directory, "inside"), join(directory, "outside")];
    const rules: BoxRules = {
      mode: "workspace",
      roots: [inside],
      home: join(directory, "home"),
      agentDir: join(directory, "agent"),
      tempDir: join(directory, "temporary"),
      hide: [],
      show: [outside],
      unixSockets: "own",
      network: "off",
    };
    for (const path of [inside, outside, rules.home, rules.agentDir, rules.tempDir]) mkdirSync(path);
    await run(makeBox(rules), inside, 'echo > "$0/written"; echo > "$1/written"; test -d "$1"', [inside, outside]);
    if (existsSync(join(outside, "written"))) return "a confined command could write outside.";
    return existsSync(join(inside, "written")) ? undefined : "a confined command could not write inside.";
  } catch (error) {
    return messageOf(error).replace(/^Sandbox failed to start: /, "");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(box: Box, cwd: string, script: string, args: readonly string[]): Promise<void> {
  const command = { file: "/bin/sh", args: ["-c", script, ...args], mergesOutput: true };
  const boxed = await box.wrap(command, { cwd, env: { PATH: "/usr/bin:/bin" } });
  const child = spawn(boxed.command.file, boxed.command.args, {
    cwd: boxed.cwd,
    env: boxed.env,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", ...boxed.stdio],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, probeMs);
    child.on("error", reject);
    child.on("exit", (exitCode) => {
      clearTimeout(timer);
      resolve(exitCode);
    });
    if (child.pid !== undefined) boxed.started(child);
  });
  await boxed.ended();
  if (code !== 0) throw new Error(`a confined command ended with ${code ?? "a signal"}.`);
}
