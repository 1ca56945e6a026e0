// How a session's commands are run: the bash tool's, the user's and the host's, and those of a project's extensions.
// A `Placement` says where one command runs: on the disk, confined or not, or in the `StageView` of the current record,
// which is an `OpenView` while it does. What was staged, taken away or blocked is told with the output.

import { GalleyError, messageOf } from "../../base/errors.js";
import { readPlainFile, statPlainFile } from "../../files/disk/read-plain-file.js";
import { TemporaryDirectory } from "../../files/disk/temporary-directory.js";
import type { PendingActions } from "../../pending/pending-actions.js";
import type { DecideHost } from "../../processes/network/admission.js";
import type { BoxRules, Sandbox, SandboxProbe } from "../../processes/sandbox/box.js";
import type { CommandEnd, CommandWish, Confinement, RanCommand, StartCommand } from "../../tools/confinement.js";
import type { KeptFiles } from "../../tools/staging.js";
import type { SessionAccess } from "../access/access-mode.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import { networkMode, type WantedBox } from "./box-rules.js";
import { confinedNotes } from "./command-notes.js";
import { CurrentView, type CurrentViewDeps } from "./current-view.js";
import type { SandboxEnvironment, SandboxMachine } from "./sandbox-machine.js";
import { type DiskPlacement, SessionSandbox } from "./session-sandbox.js";

const hostText = "The host provides what this session's commands run with.";

export interface ConfinedCommandsDeps extends Pick<CurrentViewDeps, "record"> {
  readonly environment: SandboxEnvironment;
  readonly access: SessionAccess;
  readonly machine?: SandboxMachine;
  readonly askHost?: DecideHost | undefined;
  /** Where staged commands go. Asked, like `record`, when a command is staged. */
  pending(): PendingActions;
}

/**
 * Everything that does the work is loaded with the first command. Where the host brings what starts programs, or what they
 * work on, nothing of ours can confine them.
 */
export class ConfinedCommands implements Confinement {
  readonly sandbox: SessionSandbox;
  readonly #deps: ConfinedCommandsDeps;
  readonly #view: CurrentView;
  readonly #temporary = new TemporaryDirectory();
  /** That the user allowed for this session. */
  readonly #hosts = new Set<string>();
  readonly #decideHost: DecideHost | undefined;
  #system: Promise<Sandbox> | undefined;

  constructor(
    { processes, workspace }: Pick<CreateAgentSessionOptions, "processes" | "workspace">,
    deps: ConfinedCommandsDeps,
  ) {
    const { environment, access, machine = systemMachine, askHost, record } = deps;
    const { settings, log } = environment;
    const isHosted = (processes ?? workspace) !== undefined;
    const none: SandboxProbe & { mechanism: "none" } = { mechanism: "none", reason: hostText };
    this.#deps = deps;
    this.#decideHost = askHost && rememberingHosts(askHost, { hosts: this.#hosts, environment });
    this.#view = new CurrentView({
      record,
      open: async (request) => {
        const { viewRootsOf } = await import("./box-rules.js");
        return machine.view({ ...request, environment, roots: await viewRootsOf(environment) });
      },
    });
    this.sandbox = new SessionSandbox({
      access,
      network: () => networkMode(settings, askHost !== undefined),
      probe: async () => (isHosted ? none : (await this.#machineSandbox()).probe()),
      probeStage: async () => (isHosted ? none : this.#view.probe()),
      warn: (text) => log.warn(text),
    });
  }

  get isSerial(): boolean {
    return this.#deps.access.isReviewed;
  }

  get endsBackground(): boolean {
    return this.isSerial || this.sandbox.state.mode !== "off";
  }

  async run<End extends CommandEnd>(wish: CommandWish, start: StartCommand<End>): Promise<RanCommand<End>> {
    const { sandbox } = this;
    const isOutside = wish.toolCallId !== undefined && sandbox.takeOutside(wish.toolCallId);
    if (wish.isUnsandboxed || isOutside) return this.#onDisk(wish, { kind: "unconfined" }, start);
    const placement = await sandbox.place({ stage: wish.stage ?? false });
    if (placement.kind === "staged") return this.#staged(wish, start, placement.mode);
    return this.#onDisk(wish, placement.kind === "bypassing" ? placement.onDisk : placement, start);
  }

  async #onDisk<End extends CommandEnd>(
    { toolCallId }: CommandWish,
    how: DiskPlacement,
    start: StartCommand<End>,
  ): Promise<RanCommand<End>> {
    if (how.kind === "refused") throw new GalleyError("unsupported", how.text);
    if (how.kind === "unconfined") return { end: await start({}), notes: { lines: [] } };
    const end = await start({ box: await this.#box({ mode: how.mode }) });
    const mayEscalate = toolCallId !== undefined;
    return { end, notes: { lines: confinedNotes(end, { mayEscalate, mode: how.mode }) } };
  }

  async #staged<End extends CommandEnd>(
    wish: CommandWish,
    start: StartCommand<End>,
    mode: BoxRules["mode"],
  ): Promise<RanCommand<End>> {
    const { access, environment } = this.#deps;
    const pending = this.#deps.pending();
    const { runStaged } = await import("./run-staged.js");
    return runStaged(wish, start, {
      view: await this.#view.get(),
      pending,
      environment,
      mode,
      network: this.sandbox.network,
      box: (open) => this.#box({ mode, view: open }),
      isForReview: access.isReviewed || wish.toolCallId === undefined,
    });
  }

  async #box(wanted: WantedBox) {
    const { boxRules } = await import("./box-rules.js");
    const [temporary, decideHost, sessionHosts] = [this.#temporary, this.#decideHost, this.#hosts];
    const rules = await boxRules({ ...this.#deps.environment, temporary, decideHost, sessionHosts }, wanted);
    return (await this.#machineSandbox()).box(rules);
  }

  #machineSandbox(): Promise<Sandbox> {
    const { machine = systemMachine, environment } = this.#deps;
    this.#system ??= machine.sandbox(environment);
    return this.#system;
  }

  /** Ignored files that are in the view only; undefined until a command was staged. */
  readonly kept = (): KeptFiles | undefined => {
    const view = this.#view.opened;
    if (!view) return undefined;
    return {
      file: (path) => view.keptFile(path),
      paths: () => view.keptPaths(),
      read: (place, maxBytes) => readPlainFile(place, maxBytes),
      stat: statPlainFile,
    };
  };

  /** Ends with the session. Never rejects. */
  async release(): Promise<void> {
    await this.#view.close();
    await this.#temporary.remove();
  }
}

/** A yes for the session counts for its later commands too; one for good is kept in the user's file. */
function rememberingHosts(
  ask: DecideHost,
  { hosts, environment }: { hosts: Set<string>; environment: SandboxEnvironment },
): DecideHost {
  return async (host, signal) => {
    const answer = await ask(host, signal);
    if (answer === "session" || answer === "always") hosts.add(host);
    if (answer === "always") {
      const { allowHostForGood } = await import("../access/allow-for-good.js");
      await allowHostForGood(host, environment).catch((error) => environment.log.error(messageOf(error), error));
    }
    return answer;
  };
}

const systemMachine: SandboxMachine = {
  sandbox: async (environment) => (await import("./system-machine.js")).systemSandbox(environment),
  view: async (request) => (await import("./system-machine.js")).systemView(request),
};
