// What a confined command may do, from the session's place and settings. Read anew for each command: a host that the user
// allowed meanwhile counts.

import type { Settings } from "../../config/settings/settings.js";
import type { TemporaryDirectory } from "../../files/disk/temporary-directory.js";
import { stagedRepositories } from "../../files/git-worktree.js";
import type { OpenView } from "../../files/layer/stage-view.js";
import { writableRoots } from "../../files/paths/writable-roots.js";
import type { DecideHost } from "../../processes/network/admission.js";
import type { BoxRules } from "../../processes/sandbox/box.js";
import { sandboxSettings } from "../access/sandbox-settings.js";
import type { SessionEnvironment } from "../session-environment.js";

export interface RulesDeps
  extends Pick<SessionEnvironment, "cwd" | "home" | "agentDir" | "project" | "settings" | "clock"> {
  readonly temporary: TemporaryDirectory;
  /** Asks the user about a host; absent where it is not asked. */
  readonly decideHost?: DecideHost | undefined;
  /** Hosts that the user allowed for this session. */
  readonly sessionHosts: ReadonlySet<string>;
}

export interface WantedBox {
  readonly mode: BoxRules["mode"];
  /** For a staged command, which writes in the view and nowhere else. */
  readonly view?: Pick<OpenView, "holder" | "roots">;
}

/** The writable roots of a session, the project's first. */
export function rootsOf({ cwd, home, project, settings }: Pick<RulesDeps, "cwd" | "home" | "project" | "settings">) {
  return writableRoots({ projectRoot: project.writableRoot, roots: settings.get("workspace.roots"), cwd, home });
}

/** What a session's view shows: also the repository that a linked worktree belongs to, where git must write. */
export async function viewRootsOf(deps: Parameters<typeof rootsOf>[0]): Promise<string[]> {
  const roots = await rootsOf(deps);
  return [...roots, ...stagedRepositories(roots)];
}

export async function boxRules(deps: RulesDeps, { mode, view }: WantedBox): Promise<BoxRules> {
  const { home, agentDir, settings, temporary } = deps;
  const { unixSockets, hide, show } = sandboxSettings(settings, home);
  return {
    mode,
    home,
    agentDir,
    hide,
    show,
    unixSockets,
    roots: view?.roots ?? (await rootsOf(deps)),
    tempDir: await temporary.path(),
    network: await networkOf(deps),
    ...(view === undefined ? {} : { viewHolder: view.holder }),
  };
}

/** Where the user is asked about hosts, commands reach none but through the gate, unless the user closed the network. */
export function networkMode(settings: Settings, asksUser: boolean): "off" | "hosts" | "on" {
  const set = settings.get("bash.network");
  return set === "off" && asksUser && !settings.isSetByUser("bash.network") ? "hosts" : set;
}

async function networkOf({ settings, home, decideHost, sessionHosts, clock }: RulesDeps): Promise<BoxRules["network"]> {
  const mode = networkMode(settings, decideHost !== undefined);
  if (mode !== "hosts") return mode;
  const { createNetworkGate } = await import("../../processes/network/gate.js");
  const hosts = [...sandboxSettings(settings, home).hosts, ...sessionHosts];
  return createNetworkGate({ hosts, decide: decideHost, clock });
}
