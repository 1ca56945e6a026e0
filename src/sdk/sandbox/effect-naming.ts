// From what a command did in the view to the changes of a plan, with names as this project shows them, and marks on what
// only the user's own word may write.

import { dirname } from "node:path";
import { tmpdir } from "../../base/home.js";
import { configRootDirectory } from "../../config/config-roots.js";
import type { Effect } from "../../files/layer/stage-view.js";
import { isGitData } from "../../files/paths/git-data.js";
import { treesAround } from "../../files/paths/git-repositories.js";
import { gitTest } from "../../files/paths/git-test.js";
import { protectedTest } from "../../files/paths/protected-paths.js";
import { displayPath } from "../../files/paths/resolve-path.js";
import { type PlannedEffects, planEffects } from "../../plans/effects/plan-effects.js";
import type { SandboxEnvironment } from "./sandbox-machine.js";

export function plannedEffects(
  effects: readonly Effect[],
  stagedPaths: readonly string[],
  { cwd, home, env, agentDir }: Pick<SandboxEnvironment, "cwd" | "home" | "env" | "agentDir">,
): PlannedEffects {
  const isProtected = protectedTest({
    homes: [home],
    configDirectories: [configRootDirectory(env, home), agentDir],
    projects: [cwd],
    tempDirs: [tmpdir()],
  });
  const trees = [...directoriesUp(cwd), ...treesAround(effects, cwd)];
  const made = [...stagedPaths, ...effects.flatMap(({ path, after }) => (after ? [path] : []))];
  const isOfGit = gitTest({ trees, made, cwd, home });
  return planEffects(effects, {
    shownPath: (path) => displayPath(path, cwd),
    // What git keeps for itself is written with the rest of what a command did.
    isProtected: (path) => (isProtected(path) && !isGitData(path)) || isOfGit(path),
  });
}

function directoriesUp(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...directoriesUp(above)];
}
