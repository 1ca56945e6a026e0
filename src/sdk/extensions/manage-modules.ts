// For users who manage custom tools and trust: which tools there are, whether a module is usable, what a project would
// run, and what was decided about it.

import { join } from "node:path";
import { systemClock } from "../../base/clock.js";
import { homedir } from "../../base/home.js";
import type { Log } from "../../base/log.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { discoverEnvironment, discoverSettings } from "../../config/discover.js";
import { type ModuleSpot, type ModuleSurvey, surveyModules, trustFile } from "../../config/survey-modules.js";
import type { ExplicitPath } from "../../extensions/discover/discover-modules.js";
import type { LoadedCustomTools, ModuleLoadError } from "../../extensions/load/load.js";
import type { ToolCheck, ToolReport } from "../../extensions/load/tool-check.js";
import type { TrustDecision } from "../../extensions/trust/trust.js";
import type { TrustQuestion } from "../../extensions/trust/trust-question.js";
import type { TrustRecord } from "../../extensions/trust/trust-store.js";
import { createToolAccess } from "../tool-access.js";
import { sessionlessModules } from "./sessionless-modules.js";

export type { ToolCheck, ToolReport, TrustDecision, TrustRecord };

export interface ModulePlace extends ModuleSpot {
  readonly log: Log;
  /** Names that no custom tool may have. */
  readonly builtInToolNames: readonly string[];
}

export async function findModulePlace(
  given: Pick<ModulePlace, "cwd" | "log" | "builtInToolNames">,
): Promise<ModulePlace> {
  const { cwd, log } = given;
  const agentDir = agentDirectory(process.env);
  const env = discoverEnvironment({ cwd, agentDir, log });
  const settings = await discoverSettings({ cwd, agentDir, log }, {});
  return { ...given, home: homedir(), agentDir, env, settings };
}

export interface ToolList {
  readonly tools: readonly ToolReport[];
  readonly errors: readonly ModuleLoadError[];
}

/** The tools that a session started here would have. Runs the user's modules, and those of a trusted project. */
export async function listTools(place: ModulePlace, options: { trustProject: boolean }): Promise<ToolList> {
  const { chooseModules, untrustedText } = await import("../../extensions/discover/choose.js");
  const explicit = place.settings.get("customTools").map((path) => asNamed(path));
  const survey = await surveyModules(place, { explicit, isTrustedForThisRun: options.trustProject });
  const isProjectTrusted = survey.decision.state === "trusted";
  const chosen = chooseModules(survey.discovery.modules, { isProjectTrusted });
  const ofTools = chosen.load.filter(({ kind }) => kind === "tool");
  const untrusted = chosen.untrusted.map(({ path, source }) => ({ path, error: untrustedText, source }));
  const errors = [...survey.discovery.problems, ...untrusted];
  if (ofTools.length === 0) return { tools: [], errors };
  const coverage = isProjectTrusted ? survey.project.coverage : undefined;
  return withLoaded(place, { candidates: ofTools, coverage }, async (loaded) => {
    const { reportTools } = await import("../../extensions/load/tool-check.js");
    return { tools: reportTools(loaded), errors: [...errors, ...loaded.errors] };
  });
}

/** Loads the module or the modules at a path. Naming a path means running it. */
export async function checkModule(place: ModulePlace, path: string): Promise<ToolCheck> {
  const [{ discoverModules }, { checkTools }] = await Promise.all([
    import("../../extensions/discover/discover-modules.js"),
    import("../../extensions/load/tool-check.js"),
  ]);
  const { cwd, home } = place;
  const found = await discoverModules({ cwd, home, roots: [], kinds: ["tool"], explicit: [asNamed(path)] });
  const candidates = found.modules.filter(({ source }) => source.provider === "config");
  const problems = found.problems.map((problem) => `${problem.path}: ${problem.error}`);
  return withLoaded(place, { candidates, coverage: undefined }, async (loaded) => {
    const check = await checkTools(loaded);
    return { ...check, problems: [...problems, ...check.problems] };
  });
}

/** The text of a new tool and the path of its file. Throws `usage` for a name that no model accepts. */
export async function newTool(
  { cwd, agentDir }: ModulePlace,
  name: string,
  { isForProject }: { isForProject: boolean },
): Promise<{ path: string; text: string }> {
  const { toolTemplate } = await import("../../extensions/load/tool-template.js");
  const { fileName, text } = toolTemplate(name);
  return { path: join(isForProject ? join(cwd, ".galley") : agentDir, "tools", fileName), text };
}

export interface TrustReview {
  readonly survey: ModuleSurvey;
  readonly decision: TrustDecision;
  readonly question: TrustQuestion;
}

/** Runs nothing. */
export async function reviewTrust(place: ModulePlace): Promise<TrustReview> {
  const { trustQuestion } = await import("../../extensions/trust/trust-question.js");
  const survey = await surveyModules(place);
  return { survey, decision: survey.decision, question: trustQuestion(survey.decision) };
}

export async function trustReviewed(place: ModulePlace, { survey }: TrustReview): Promise<void> {
  const { recordTrust } = await import("../../extensions/trust/trust-record.js");
  await recordTrust(survey.project, "trusted", { file: trustFile(place), clock: systemClock });
}

/** False where nothing was decided about it. */
export async function forgetTrust(place: ModulePlace): Promise<{ root: string; wasKnown: boolean }> {
  const { revokeTrust } = await import("../../extensions/trust/trust-record.js");
  const { root } = (await surveyModules(place)).decision;
  return { root, wasKnown: await revokeTrust(root, { file: trustFile(place), clock: systemClock }) };
}

export async function listDecisions(
  place: ModulePlace,
): Promise<{ records: readonly TrustRecord[]; problem?: string }> {
  const { listTrust } = await import("../../extensions/trust/trust-store.js");
  return listTrust(trustFile(place));
}

function asNamed(path: string): ExplicitPath {
  return { kind: "tool", path, namedBy: "user" };
}

type Wanted = Parameters<typeof import("../../extensions/load/load.js").loadCustomTools>;

async function withLoaded<Result>(
  place: ModulePlace,
  { candidates, coverage }: { candidates: Wanted[0]; coverage: Wanted[1]["coverage"] },
  use: (loaded: LoadedCustomTools) => Promise<Result>,
): Promise<Result> {
  const { loadCustomTools } = await import("../../extensions/load/load.js");
  const { cwd, agentDir, log } = place;
  const { processes } = createToolAccess({ ...place, clock: systemClock });
  const parts = { cwd, processes, clock: systemClock, log, coverage };
  try {
    return await use(
      await loadCustomTools(candidates, {
        ...parts,
        builtInToolNames: place.builtInToolNames,
        cacheDirectory: join(agentDir, "cache", "tools"),
        hostModules: sessionlessModules(place, processes),
      }),
    );
  } finally {
    await processes.shutdown();
  }
}
