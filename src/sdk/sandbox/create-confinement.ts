// The sandbox of a session and how its commands run, from its options, place and settings. Everything that does the work is
// loaded with the first command. Where the host brings what starts programs, or what they work on, nothing of ours can
// confine them.

import { messageOf } from "../../base/errors.js";
import { readPlainFile, statPlainFile } from "../../files/disk/read-plain-file.js";
import { TemporaryDirectory } from "../../files/disk/temporary-directory.js";
import type { StageView } from "../../files/layer/stage-view.js";
import type { DecideHost } from "../../processes/network/admission.js";
import type { Sandbox } from "../../processes/sandbox/box.js";
import type { KeptFiles } from "../../tools/staging.js";
import type { SessionAccess } from "../access/access-mode.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import { networkMode } from "./box-rules.js";
import { SessionCommands } from "./confined-commands.js";
import type { SandboxEnvironment, SandboxMachine } from "./sandbox-machine.js";
import { SessionSandbox } from "./session-sandbox.js";
import { type ConfinedSession, SessionViews } from "./session-views.js";

const hostText = "The host provides what this session's commands run with.";

export interface SessionConfinement {
  readonly sandbox: SessionSandbox;
  readonly commands: SessionCommands;
  /** Ignored files that are in the view only; undefined until a command was staged. */
  kept(): KeptFiles | undefined;
  /** Once the session is made. */
  attach(session: ConfinedSession): void;
  /** Ends with the session. Never rejects. */
  release(): Promise<void>;
}

export interface ConfinementDeps {
  readonly environment: SandboxEnvironment;
  readonly access: SessionAccess;
  readonly machine?: SandboxMachine;
  readonly askHost?: DecideHost | undefined;
}

export function createConfinement(
  options: Pick<CreateAgentSessionOptions, "processes" | "workspace">,
  { environment, access, machine = systemMachine, askHost }: ConfinementDeps,
): SessionConfinement {
  const isHosted = (options.processes ?? options.workspace) !== undefined;
  const { settings, log } = environment;
  const temporary = new TemporaryDirectory();
  const views = new SessionViews({
    open: async (request) => {
      const { viewRootsOf } = await import("./box-rules.js");
      return machine.view({ ...request, environment, roots: await viewRootsOf(environment) });
    },
  });
  const hosts = new Set<string>();
  const decideHost = askHost && rememberingHosts(askHost, { hosts, environment });
  let made: Promise<Sandbox> | undefined;
  const system = () => (made ??= machine.sandbox(environment));
  const sandbox = new SessionSandbox({
    access,
    network: () => networkMode(settings, decideHost !== undefined),
    probe: async () => (isHosted ? { mechanism: "none", reason: hostText } : (await system()).probe()),
    probeStage: async () => (isHosted ? { mechanism: "none", reason: hostText } : views.probe()),
    warn: (text) => log.warn(text),
  });
  const commands = new SessionCommands({
    access,
    sandbox,
    box: async (wanted) => {
      const { boxRules } = await import("./box-rules.js");
      const rules = await boxRules({ ...environment, temporary, decideHost, sessionHosts: hosts }, wanted);
      return (await system()).box(rules);
    },
    view: () => views.current(),
    plan: async (effects, staged) => (await import("./effect-naming.js")).plannedEffects(effects, staged, environment),
  });
  return {
    sandbox,
    commands,
    kept: () => keptFiles(views.opened),
    attach(session) {
      commands.attach(session.pending);
      views.attach(session);
    },
    async release() {
      await views.close();
      await temporary.remove();
    },
  };
}

function keptFiles(view: StageView | undefined): KeptFiles | undefined {
  if (!view) return undefined;
  return {
    file: (path) => view.keptFile(path),
    paths: () => view.keptPaths(),
    read: (place, maxBytes) => readPlainFile(place, maxBytes),
    stat: statPlainFile,
  };
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
