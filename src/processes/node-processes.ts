// Processes on a POSIX system. Each child carries a marker in its environment and the watcher knows its group, so that
// no child survives a stop, a shutdown or a kill of galley. A process escapes if it leaves the group and clears its
// environment, or becomes another user; so does a command that is only `exec env -i …` if galley is killed at the
// moment of its start, before the watcher knows the group. Only a sandbox can hold those.

import { isAbsolute } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { randomIds } from "../base/ids.js";
import type { Log } from "../base/log.js";
import { Child, stopGraceMs } from "./child.js";
import { addedSince, childEnvironment, type Environment } from "./child-environment.js";
import { inputKind } from "./own-input.js";
import { type Group, isGroupAlive, killMarked, signalGroup, whenGroupGone } from "./process-table.js";
import type { ProcessEnd, Processes, ProcessRequest } from "./processes.js";
import { Reaper } from "./reaper.js";
import type { BoxedCommand } from "./sandbox/box.js";
import { type CommandLine, findProgram, findShell, findSystemProgram, limitedShell } from "./shell.js";
import { type Spawn, start } from "./start.js";

/** A galley inside a command of another galley adds its own marker to the other's, so that each finds what is its. */
const markerName = "GALLEY_RUN";
const markers = /^(?:[0-9a-f-]{36}:\d{1,9};){1,16}$/;

/** How often groups that outlived their command are checked: the system reuses their numbers once they are empty. */
const lookMs = 5000;

export interface NodeProcessesOptions {
  readonly env: Environment;
  readonly log: Log;
  readonly clock?: Clock;
  /** The environment of this process, of which `env` is the state at the start: what is added to it reaches children. */
  readonly live?: Environment | undefined;
  /** The user's `bash.environment`: set as given, whatever the names. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The user's choice; default: bash, else sh. */
  readonly shellPath?: string | undefined;
  /** The user's own words before every shell command: a wrapper, an assignment. */
  readonly shellPrefix?: string | undefined;
  /** No program that lies in it is picked from PATH. */
  readonly projectRoot?: string | undefined;
  readonly platform?: NodeJS.Platform;
}

export function createNodeProcesses(options: NodeProcessesOptions): Processes {
  return new NodeProcesses(options);
}

interface Running {
  readonly request: ProcessRequest;
  readonly command: CommandLine;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly boxed?: BoxedCommand;
}

class NodeProcesses implements Processes {
  readonly #options: NodeProcessesOptions;
  readonly #clock: Clock;
  readonly #id: string;
  readonly #outerMarkers: string;
  readonly #running = new Set<Child>();
  /** The groups that run, also those that outlived their first process. */
  readonly #groups = new Set<Group>();
  #count = 0;
  #spawn: Spawn | undefined;
  #environment: Readonly<Record<string, string>> | undefined;
  #shell: string | undefined;
  #reaper: Reaper | undefined;
  #cancelLook: (() => void) | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(options: NodeProcessesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#id = randomIds.session(this.#clock.now());
    const outer = options.env[markerName] ?? "";
    this.#outerMarkers = markers.test(outer) ? outer : "";
  }

  async run(request: ProcessRequest): Promise<ProcessEnd> {
    if ((this.#options.platform ?? process.platform) === "win32")
      throw new GalleyError("unsupported", "Commands need process groups, which Windows does not have.");
    // Only now, because not every session starts a program; kept, so that the next program starts without waiting.
    this.#spawn ??= (await import("node:child_process")).spawn;
    const spawn = this.#spawn;
    this.#environment ??= childEnvironment(this.#options.env, this.#options.environment);
    if (this.#shutdown !== undefined) throw new GalleyError("start_failed", "galley is shutting down.");
    if (request.signal?.aborted) return { exitCode: 143, stopped: "aborted" };

    const command = this.#commandLine(request);
    const marker = `${this.#id}:${++this.#count};`;
    const marking = { [markerName]: `${this.#outerMarkers}${marker}` };
    // bash takes a socket for a login over the network, and runs ~/.bashrc unless it is a shell within a shell.
    const { env: start, live } = this.#options;
    const added = live && addedSince(start, live);
    const env = { SHLVL: "1", ...this.#environment, ...added, ...request.env, ...marking };
    if (request.box === undefined) return await this.#runChild(spawn, { request, command, env, marker });
    const boxed = await request.box.wrap(command, { cwd: request.cwd, env });
    return await this.#runBoxed(spawn, boxed, { request, env: { ...boxed.env, ...marking }, marker });
  }

  async #runBoxed(spawn: Spawn, boxed: BoxedCommand, running: Omit<Running, "command">): Promise<ProcessEnd> {
    let end: ProcessEnd;
    try {
      // Time has passed since the first look.
      if (this.#shutdown !== undefined) throw new GalleyError("start_failed", "galley is shutting down.");
      if (running.request.signal?.aborted) end = { exitCode: 143, stopped: "aborted" };
      else end = await this.#runChild(spawn, { ...running, command: boxed.command, boxed });
    } catch (error) {
      await boxed.ended().catch(() => {}); // the first reason is the one to tell
      throw error;
    }
    try {
      return { ...end, box: await boxed.ended() };
    } catch (error) {
      if (end.stopped !== undefined) return { exitCode: 143, stopped: end.stopped }; // before it began
      throw error;
    }
  }

  async #runChild(spawn: Spawn, { request, command, env, marker, boxed }: Running): Promise<ProcessEnd> {
    const reaper = this.#ensureReaper(spawn);
    const starting = start(spawn, command, {
      cwd: boxed?.cwd ?? request.cwd,
      env,
      detached: true, // its own group and session
      stdio: [
        inputKind(request.stdin, boxed !== undefined),
        "pipe",
        command.mergesOutput && boxed === undefined ? "ignore" : "pipe",
        ...(boxed?.stdio ?? []),
      ],
    });
    // No await once it has started: the child must react to an abort from here on.
    const started = starting instanceof Promise ? await starting : starting;
    boxed?.started(started.process);
    const child = new Child(started, { request, clock: this.#clock, marker, helper: boxed });
    this.#running.add(child);
    this.#groups.add(child.group);
    reaper.watch(this.#groups);
    request.onStart?.();
    const release = keepAlive();
    try {
      return await child.ended;
    } finally {
      release();
      this.#running.delete(child);
      if (isGroupAlive(child.group)) this.#lookLater();
      else this.#groups.delete(child.group);
      reaper.watchLater(this.#groups);
    }
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#stopAll();
    return this.#shutdown;
  }

  #commandLine({ command, mergesOutput = false }: ProcessRequest): CommandLine {
    const search = this.#search();
    if ("shell" in command) {
      this.#shell ??= this.#options.shellPath ?? findShell(search);
      const { shellPrefix } = this.#options;
      const script = shellPrefix === undefined ? command.shell : `${shellPrefix} ${command.shell}`;
      return limitedShell(this.#shell, script, mergesOutput);
    }
    const file = isAbsolute(command.file) ? command.file : findProgram(command.file, search);
    if (file === undefined) throw new GalleyError("not_found", `Program not found: ${command.file}`);
    return { file, args: command.args, mergesOutput: false };
  }

  #search() {
    return { path: this.#options.env.PATH, projectRoot: this.#options.projectRoot };
  }

  /** Started before the child, because the watcher must know every group. */
  #ensureReaper(spawn: Spawn): Reaper {
    this.#reaper ??= new Reaper({
      spawn,
      log: this.#options.log,
      clock: this.#clock,
      marker: `${this.#id}:`,
      grep: findSystemProgram("grep", this.#search()),
      sleep: findSystemProgram("sleep", this.#search()),
    });
    this.#reaper.ensure();
    return this.#reaper;
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(lookMs, () => {
      this.#cancelLook = undefined;
      for (const group of this.#leftGroups()) if (!isGroupAlive(group)) this.#groups.delete(group);
      this.#reaper?.watchLater(this.#groups);
      if (this.#leftGroups().length > 0) this.#lookLater();
    });
  }

  #leftGroups(): Group[] {
    const running = new Set(Array.from(this.#running, (child) => child.group));
    return [...this.#groups].filter((group) => !running.has(group));
  }

  async #stopAll(): Promise<void> {
    if (this.#reaper === undefined) return; // nothing was ever started
    const release = keepAlive();
    const left = this.#leftGroups();
    for (const group of left) signalGroup(group, "SIGTERM");
    await Promise.all([
      ...Array.from(this.#running, (child) => child.stop("aborted")),
      ...left.map((group) => whenGroupGone(group, this.#clock, stopGraceMs)),
    ]);
    for (const group of this.#groups) signalGroup(group, "SIGKILL");
    await killMarked(`${this.#id}:`);
    this.#cancelLook?.();
    this.#reaper.close();
    release();
  }
}

/** Keeps the program alive until the work is done: neither our clock's timers nor a dead child would. */
function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30);
  return () => clearInterval(timer);
}
