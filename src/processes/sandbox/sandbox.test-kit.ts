// For tests that confine real commands as the user that runs the tests.

import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { type Log, silentLog } from "../../base/log.js";
import { createNodeProcesses } from "../node-processes.js";
import type { Processes, ProcessRequest } from "../processes.js";
import type { Box, BoxRules, Sandbox, SandboxProbe } from "./box.js";
import { createSandbox } from "./create-sandbox.js";
import { findMachinePlaces } from "./hidden-paths.js";
import { linuxBox } from "./linux-box.js";
import type { NamespacesPrograms } from "./namespaces.js";
import { findSandboxPrograms } from "./programs.js";

export type Way = "bubblewrap" | "namespaces";
export const allWays: readonly Way[] = ["bubblewrap", "namespaces"];

export interface SandboxRig {
  readonly sandbox: Sandbox;
  readonly processes: Processes;
  readonly rules: BoxRules;
  readonly project: string;
  readonly outside: string;
  /** Runs it confined; answers what it printed, and how it ended. */
  run(
    line: string,
    rules?: Partial<BoxRules>,
    request?: Partial<ProcessRequest>,
  ): Promise<{ output: string; exitCode: number; removed: readonly string[]; stopped?: string | undefined }>;
}

export function sandboxRig(way: Way, log: Log = silentLog): SandboxRig {
  const base = temporaryDirectory();
  const place = (name: string) => {
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  };
  const project = place("project");
  const outside = place("home/outside");
  const env = { ...process.env, HOME: place("home"), PATH: pathFor(way) };
  const sandbox = createSandbox({ env, projectRoot: project, log });
  const processes = createNodeProcesses({ env, log: silentLog, projectRoot: project });
  onTestFinished(() => processes.shutdown());
  const rules: BoxRules = {
    mode: "workspace",
    roots: [project],
    home: env.HOME,
    agentDir: place("home/.galley/agent"),
    tempDir: place("temporary"),
    hide: [],
    // Node may be in a place that is hidden, such as /tmp.
    show: [env.PATH.split(delimiter)[0] as string, dirname(process.execPath)],
    unixSockets: "own",
    network: "off",
  };
  return {
    ...{ sandbox, processes, rules, project, outside },
    async run(line, changed = {}, request = {}) {
      let output = "";
      const { exitCode, box, stopped } = await processes.run({
        command: { shell: line },
        cwd: project,
        box: await sandbox.box({ ...rules, ...changed }),
        onOutput(chunk) {
          output += Buffer.from(chunk).toString("utf8");
          return undefined;
        },
        ...request,
      });
      return { output, exitCode, removed: box?.removed ?? [], stopped };
    },
  };
}

/** A box of the namespaces in which programs are shell scripts of the test. `"$real"` is the program itself. */
export function boxWithPrograms(rules: BoxRules, scripts: { readonly [name in "mount" | "setpriv"]?: string }): Box {
  const programs = findSandboxPrograms({ path: process.env.PATH, projectRoot: undefined });
  const found = programs.namespaces as NamespacesPrograms;
  const directory = temporaryDirectory();
  const replaced = Object.entries(scripts).map(([name, script]) => {
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/sh\nreal=${found[name as keyof typeof scripts]}\n${script}\n`, { mode: 0o755 });
    return [name, file];
  });
  return linuxBox(
    { ...rules, show: [...rules.show, directory] },
    {
      mechanism: "namespaces",
      programs: { ...programs, namespaces: { ...found, ...Object.fromEntries(replaced) } },
      machine: findMachinePlaces(process.env),
      user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
      architecture: process.arch,
      node: process.execPath,
    },
  );
}

/** The mechanism alone; a PATH that has everything but bubblewrap is the other one. */
function pathFor(way: Way): string {
  return way === "bubblewrap" ? (process.env.PATH ?? "") : pathWithoutBubblewrap;
}

/** Made once for each test file: it has a link for every program of the machine. */
const pathWithoutBubblewrap = makePathWithoutBubblewrap();

function makePathWithoutBubblewrap(): string {
  const hiding = temporaryDirectory();
  const seen = new Set(["bwrap"]);
  for (const from of (process.env.PATH ?? "").split(delimiter))
    for (const name of namesIn(from)) {
      if (seen.has(name)) continue;
      seen.add(name);
      // A program itself: a PATH of links may lie where a box sees nothing.
      symlinkSync(programAt(join(from, name)), join(hiding, name));
    }
  return hiding;
}

/** Why a way cannot be tested here; undefined where it can. The probe is the program's own. */
export async function obstacleTo(way: Way): Promise<string | undefined> {
  const directory = temporaryDirectory();
  const env = { ...process.env, HOME: directory, PATH: pathFor(way) };
  const { mechanism, reason }: SandboxProbe = await createSandbox({
    env,
    projectRoot: undefined,
    log: silentLog,
  }).probe();
  return mechanism === way ? undefined : `${way} cannot be used here: ${reason ?? mechanism}`;
}

function programAt(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
