// Everything about a project that needs the user's trust, found and digested together: for the start of a session and
// for `galley trust`. Runs nothing; where there is nothing it costs a few lookups of names.

import { lookAt } from "../../files/module-files.js";
import { findProject } from "../../files/paths/find-roots.js";
import { type DiscoverOptions, discoverModules } from "../discover/discover-modules.js";
import { findMcpServers } from "../discover/find-mcp-servers.js";
import type { Discovery } from "../discover/findings.js";
import { digestProject, type PolicySetting, type PolicyText, type ProjectDigest } from "./digest-project.js";

export interface SurveyOptions extends DiscoverOptions {
  /** What the project's settings say that only a trusted project may. */
  readonly settings?: readonly PolicySetting[];
  /** Its templates, skills and rules. */
  readonly texts?: readonly PolicyText[];
  /** What the host serves itself, whatever the project has under that name. */
  readonly isHostModule?: (specifier: string) => boolean;
}

export interface Survey {
  readonly discovery: Discovery;
  readonly project: ProjectDigest;
  /** Files with servers that cannot be read. */
  readonly problems: readonly { readonly path: string; readonly error: string }[];
}

export async function surveyProject(options: SurveyOptions): Promise<Survey> {
  const { cwd, home, roots, settings = [], texts = [], isHostModule } = options;
  const { repositoryRoot, directories } = findProject({ cwd, home });
  const discovery = await discoverModules(options);
  const configDirectories = roots
    .filter(({ level, source }) => level === "project" && (source === "native" || source === "claude"))
    .map(({ path }) => path);
  const { servers, problems } = findMcpServers({ directories, configDirectories });
  const looked = lookAt(cwd);
  const project = await digestProject({
    root: repositoryRoot ?? directories[0] ?? ("realPath" in looked ? looked.realPath : cwd),
    modules: discovery.modules,
    mcpServers: servers,
    settings,
    texts,
    ...(isHostModule ? { isHostModule } : {}),
  });
  return { discovery, project, problems };
}
