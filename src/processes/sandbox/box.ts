// The contract of confinement: a box turns a command line into one that runs the same command confined. What starts
// programs knows boxes and no mechanism.

import type { ChildProcess } from "node:child_process";
import type { CommandLine } from "../shell.js";

export interface Box {
  /** Made once for each command. Throws `start_failed` with a sentence where it cannot be confined as asked. */
  wrap(command: CommandLine, place: BoxPlace): Promise<BoxedCommand>;
}

export interface BoxPlace {
  readonly cwd: string;
  /** The command's whole environment. The box drops and adds some of it. */
  readonly env: Readonly<Record<string, string>>;
}

export interface BoxedCommand {
  readonly command: CommandLine;
  /** Where the helper starts; the command starts in its own directory. */
  readonly cwd: string;
  /** For the helper outside, whole; the command sees the environment that it was given. */
  readonly env: Readonly<Record<string, string>>;
  /** What the helper gets from descriptor 3 on, as Node's `spawn` takes it. The command itself sees 0, 1 and 2 alone. */
  readonly stdio: readonly ("pipe" | "ipc")[];
  /**
   * The descriptor on which the command's standard error arrives; undefined where it goes to standard output. Descriptor 2
   * is the helper's, a pipe.
   */
  readonly errorDescriptor: number | undefined;
  /** Right after the start: serves the descriptors. */
  started(child: ChildProcess): void;
  /**
   * After the end, however it came, also if the helper could not be started. Its processes are gone then. Throws
   * `start_failed`, `Sandbox failed to start: <what the helper said>`, if the command never began; otherwise tells what
   * the box did.
   */
  ended(): Promise<BoxReport>;
}
export interface BoxReport {
  /** Protected paths that the command had made and that were taken away again: `.envrc`, `core.pager in .git/config`. */
  readonly removed: readonly string[];
  /** Hosts that the command tried to reach and must not: `registry.example:443`, how often. */
  readonly blocked: readonly { readonly host: string; readonly times: number }[];
}

/** What a confined command may do, and what it sees. All paths are absolute and canonical. */
export interface BoxRules {
  /** `read-only`: only the private temporary directory can be written. */
  readonly mode: "read-only" | "workspace";
  /** Writable in `workspace`: the project's root first, then the user's `workspace.roots`. */
  readonly roots: readonly string[];
  readonly home: string;
  /** Hidden, like the user's credentials. */
  readonly agentDir: string;
  /** Private to the session, and what `TMPDIR` names inside. It outlives the command. */
  readonly tempDir: string;
  /** The user's `bash.hide` and `bash.show`, besides what is always hidden. */
  readonly hide: readonly string[];
  readonly show: readonly string[];
  readonly unixSockets: "own" | "none";
  /** `off`, `on`, or a gate to the hosts that are allowed. */
  readonly network: "off" | "on" | NetworkGate;
  /**
   * The process that holds the staged view: the command runs in its user and mount namespace, where the roots are the
   * view. Protected paths in the roots are then writable, because what is done there is only planned.
   */
  readonly viewHolder?: number | undefined;
}

/** A proxy for one command. A short Node process inside listens and hands its listening handle out over its IPC channel. */
export interface NetworkGate {
  /** Runs inside before the command, as `node -e`, with the IPC channel of the helper. */
  readonly listenScript: string;
  /** What the command gets: `http_proxy` and the like. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes the message that came over the channel: its handle is the listening server. */
  serve(handle: unknown): void;
  blocked(): BoxReport["blocked"];
  close(): void;
}

/** What this machine can do. Found out once in a process, by a real command, on first use. */
export interface SandboxProbe {
  readonly mechanism: "bubblewrap" | "namespaces" | "sandbox-exec" | "none";
  /** Why there is none, or why it is weaker than it could be. */
  readonly reason?: string;
}

export interface Sandbox {
  probe(): Promise<SandboxProbe>;
  /** Throws `unsupported` where the probe found no mechanism. */
  box(rules: BoxRules): Promise<Box>;
}
