// The workspace on the real disk.

import { join } from "node:path";
import { homedir } from "../base/home.js";
import { createWorkspace, type WorkspaceOptions } from "./create-workspace.js";
import { nodeDisk } from "./disk/node-disk.js";
import { findProject } from "./paths/find-roots.js";
import type { Workspace } from "./workspace.js";

export interface NodeWorkspaceOptions extends Omit<WorkspaceOptions, "home" | "agentDir" | "projectRoot"> {
  /** Default: the user's. */
  home?: string | undefined;
  /** Default: `.galley/agent` in the user's home. */
  agentDir?: string | undefined;
  /** Default: found. */
  projectRoot?: string | undefined;
}

export function createNodeWorkspace(options: NodeWorkspaceOptions): Workspace {
  const { cwd, home = homedir() } = options;
  return createWorkspace(nodeDisk, {
    ...options,
    home,
    agentDir: options.agentDir ?? join(home, ".galley", "agent"),
    // Found once: a repository that a command creates around the directory later must not widen what may be written.
    // Only plans of commands need it.
    repositoriesOf: async (roots) => (await import("./git-worktree.js")).stagedRepositories(roots),
    gitTest: async (git) => (await import("./paths/git-test.js")).gitTest(git),
    projectRoot: options.projectRoot ?? findProject({ cwd, home }).writableRoot,
  });
}
