// For users who manage custom tools and trust: which tools there are, whether a module is usable, what a project would
// run, and what was decided about it.

import { join } from "node:path";
import { systemClock } from "../../base/clock.js";
import { homedir, ownDirectory } from "../../base/home.js";
import type { Log } from "../../base/log.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { discoverEnvironment, discoverSettings } from "../../config/discover.js";
import {
  type ConfigLocation,
  type ExtensionSurvey,
  surveyExtensions,
  trustFile,
} from "../../config/survey-extensions.js";
import type { ExplicitPath } from "../../extensions/discover/discover-modules.js";
import type { FoundModule } from "../../extensions/discover/findings.js";
import type { LoadDeps, LoadedCustomTools } from "../../extensions/load/load.js";
import type { ToolReport } from "../../extensions/load/tool-check.js";
import type { TrustDecision } from "../../extensions/trust/trust.js";
import type { TrustQuestion } from "../../extensions/trust/trust-question.js";
import type { TrustRecord } from "../../extensions/trust/trust-store.js";
import { createToolResources } from "../tool-resources.js";
import { sessionlessHostModules } from "./sessionless-host-modules.js";

export type { ToolReport, TrustDecision, TrustRecord };

export interface ExtensionLocation extends ConfigLocation {
  readonly log: Log;
  /** Names that no custom tool may have. */
  readonly builtInToolNames: readonly string[];
}

export async function findExtensionLocation(
  given: Pick<ExtensionLocation, "cwd" | "log" | "builtInToolNames">,
): Promise<ExtensionLocation> {
  const { cwd, log } = given;
  const agentDir = agentDirectory(process.env);
  const env = discoverEnvironment({ cwd, agentDir, log });
  const settings = await discoverSettings({ cwd, agentDir, log }, {});
  return { ...given, home: homedir(), agentDir, env, settings };
}

/** The tools that a session started here would have. Runs the user's modules, and those of a trusted project. */
export async function listTools(location: ExtensionLocation, options: { trustProject: boolean }) {
  const [{ chooseModules }, { untrustedLine }] = await Promise.all([
    import("../../extensions/discover/choose.js"),
    import("../../extensions/trust/untrusted-line.js"),
  ]);
  const explicit = location.settings.get("customTools").map((path) => asNamed(path));
  const survey = await surveyExtensions(location, { explicit, isTrustedForThisRun: options.trustProject });
  const { mayRun, coverage } = survey.grant;
  const tools = survey.discovery.modules.filter(({ kind }) => kind === "tool");
  const { load: ofTools, untrusted } = chooseModules(tools, { mayRun });
  if (untrusted.length > 0) location.log.warn(untrustedLine(untrusted.map(({ kind }) => kind)));
  const errors = survey.discovery.problems;
  if (ofTools.length === 0) return { tools: [], errors };
  return withLoaded(location, { candidates: ofTools, coverage }, async (loaded) => {
    const { reportTools } = await import("../../extensions/load/tool-check.js");
    return { tools: reportTools(loaded), errors: [...errors, ...loaded.errors] };
  });
}

/** What the project has and may not run, as it is not trusted. Runs nothing. */
export async function untrustedModules(location: ExtensionLocation): Promise<readonly FoundModule[]> {
  const { chooseModules } = await import("../../extensions/discover/choose.js");
  const { discovery, grant } = await surveyExtensions(location);
  return chooseModules(discovery.modules, { mayRun: grant.mayRun }).untrusted;
}

/** What the user installed; a project's own code is not among it. Runs nothing. */
export async function usersModules(location: ExtensionLocation): Promise<readonly FoundModule[]> {
  const { discovery } = await surveyExtensions(location);
  return discovery.modules.filter(({ needsTrust }) => !needsTrust);
}

/** The text of a new tool and the path of its file. Throws `usage` for a name that no model accepts. */
export async function newTool(
  { cwd, agentDir }: ExtensionLocation,
  name: string,
  { isForProject }: { isForProject: boolean },
): Promise<{ path: string; text: string }> {
  const { toolTemplate } = await import("../../extensions/load/tool-template.js");
  const { fileName, text } = toolTemplate(name);
  return { path: join(isForProject ? join(cwd, ".galley") : agentDir, "tools", fileName), text };
}

export interface TrustReview {
  readonly survey: ExtensionSurvey;
  readonly decision: TrustDecision;
  readonly question: TrustQuestion;
}

/** Runs nothing. */
export async function reviewTrust(location: ExtensionLocation): Promise<TrustReview> {
  const { trustQuestion } = await import("../../extensions/trust/trust-question.js");
  const survey = await surveyExtensions(location);
  return { survey, decision: survey.decision, question: trustQuestion(survey.decision) };
}

export async function trustReviewed(location: ExtensionLocation, { survey }: TrustReview): Promise<void> {
  const { saveTrust } = await import("../../extensions/trust/save-trust.js");
  await saveTrust(survey.project, "trusted", { file: trustFile(location), clock: systemClock });
}

/** False where nothing was decided about it. */
export async function forgetTrust(location: ExtensionLocation): Promise<{ root: string; wasKnown: boolean }> {
  const { revokeTrust } = await import("../../extensions/trust/save-trust.js");
  const { root } = (await surveyExtensions(location)).decision;
  return { root, wasKnown: await revokeTrust(root, { file: trustFile(location), clock: systemClock }) };
}

export async function listDecisions(
  location: ExtensionLocation,
): Promise<{ records: readonly TrustRecord[]; problem?: string }> {
  const { listTrust } = await import("../../extensions/trust/trust-store.js");
  return listTrust(trustFile(location));
}

function asNamed(path: string): ExplicitPath {
  return { kind: "tool", path, namedBy: "user" };
}

type Wanted = Parameters<typeof import("../../extensions/load/load.js").loadCustomTools>;

/** Loads tools outside a session, for as long as `use` takes. */
export async function withLoaded<Result>(
  location: ExtensionLocation,
  { candidates, coverage }: { candidates: Wanted[0]; coverage: Wanted[1]["coverage"] },
  use: (loaded: LoadedCustomTools) => Promise<Result>,
): Promise<Result> {
  const { loadCustomTools } = await import("../../extensions/load/load.js");
  const { builtInToolNames } = location;
  return withLoading(location, async (loading) =>
    use(await loadCustomTools(candidates, { ...loading, coverage, builtInToolNames })),
  );
}

/** What loading a module outside a session needs. */
export async function withLoading<Result>(
  location: ExtensionLocation,
  use: (loading: LoadDeps) => Promise<Result>,
): Promise<Result> {
  const { cwd, agentDir, log } = location;
  const { processes } = createToolResources({ ...location, clock: systemClock });
  const cacheDirectory = join(ownDirectory(agentDir), "cache", "tools");
  const hostModules = sessionlessHostModules(location, processes);
  try {
    return await use({ cwd, processes, clock: systemClock, log, coverage: undefined, cacheDirectory, hostModules });
  } finally {
    await processes.shutdown();
  }
}
