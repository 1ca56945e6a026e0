// Context files: plain text that tells a model how to work here. The user's come first, then the project's from its
// root down to the working directory. A project's file is data from strangers: read like any file of the project, never
// from outside of it, cleaned of invisible characters, and marked as the project's.

import { join } from "node:path";
import { GalleyError, messageOf } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { findProject } from "../files/paths/find-roots.js";
import { isWithin, printable } from "../files/paths/resolve-path.js";
import type { Workspace } from "../files/workspace.js";
import type { Environment } from "../provider/credentials.js";
import { type ConfigRoot, configRootDirectory, findConfigRoots } from "./config-roots.js";
import type { StartLocation } from "./discover.js";
import { cleanText, decodeText, refused } from "./prompts/text-files.js";

export interface ContextFile {
  readonly path: string;
  readonly content: string;
  /** Who wrote them; default: the project. */
  readonly source?: "user" | "project";
}

export interface ContextFileOptions extends StartLocation {
  readonly env: Environment;
  readonly workspace: Workspace;
  /** Configuration sources that are switched off. */
  readonly disabled: readonly string[];
  readonly home?: string;
  /** The configuration directories; default: they are searched for. */
  readonly roots?: readonly ConfigRoot[];
  /**
   * Where the workspace is the disk itself, a quick check: most of them do not exist, and the workspace's answer costs
   * several round trips. Default: the workspace is asked for every one of them.
   */
  readonly mayExist?: (path: string) => boolean;
}

export const maxContextFileBytes = 64 * 1024;
/** Of all together. */
export const maxContextCharacters = 256 * 1024;
const fileNames = ["AGENTS.md", "CLAUDE.md", "GALLEY.md"];

/** Never throws because of a file: one that cannot be used is one line in the log. */
export async function findContextFiles(options: ContextFileOptions): Promise<ContextFile[]> {
  const found: ContextFile[] = [];
  const seen = new Set<string>();
  let characters = 0;
  const { mayExist = () => true } = options;
  for (const candidate of candidates(options).filter(({ path }) => mayExist(path))) {
    const read = await readCandidate(candidate, options);
    // A second name for the same file, by a link or by a copy.
    if (read === undefined || seen.has(read.realPath) || seen.has(read.content)) continue;
    characters += read.content.length;
    if (characters > maxContextCharacters) {
      options.log.warn(
        `${printable(candidate.path)} and later context files are not used: they are too long together.`,
      );
      break;
    }
    seen.add(read.realPath).add(read.content);
    found.push({ path: candidate.path, content: read.content, source: candidate.source });
  }
  return found;
}

interface Candidate {
  readonly path: string;
  readonly source: "user" | "project";
  /** The file must lie in it. */
  readonly within?: string;
}

function candidates(options: ContextFileOptions): Candidate[] {
  const { cwd, agentDir, env, disabled, home = homedir(), roots: given, project } = options;
  const configRoot = configRootDirectory(env, home);
  const roots = given ?? findConfigRoots({ cwd, home, agentDir, configRoot, disabled, project }).roots;
  const users = roots.filter(({ level, source }) => level === "user" && source !== "plugin");
  const { directories, repositoryRoot } = project ?? findProject({ cwd, home });
  const within = repositoryRoot ?? directories.at(-1);
  return [
    ...users.flatMap((root) => fileNames.map((name) => ({ path: join(root.path, name), source: "user" as const }))),
    ...directories
      .toReversed()
      .flatMap((directory) =>
        fileNames.map((name) => ({ path: join(directory, name), source: "project" as const, within })),
      ),
  ];
}

async function readCandidate(
  { path, within }: Candidate,
  { workspace, log }: ContextFileOptions,
): Promise<{ content: string; realPath: string } | undefined> {
  try {
    const target = await workspace.resolve(path, "read");
    if (target.kind !== "file") return undefined;
    if (within !== undefined && !isWithin(target.path, within)) throw refused("leads out of the project");
    const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: maxContextFileBytes });
    if (isTruncated) throw refused(`is larger than ${maxContextFileBytes} bytes`);
    const content = cleanText(decodeText(bytes), path, log);
    return content === "" ? undefined : { content, realPath: target.path };
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    if (error.code !== "not_found") log.warn(`${printable(path)}: ${messageOf(error)}; it is not used`);
    return undefined;
  }
}
