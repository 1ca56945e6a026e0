// What only the user may change, in any project: the paths that decide what runs next. A protected path is recognized by
// its text, whether it exists or not, and by what it leads to, so that neither a link into it nor a link out of it gets
// around the rule. (A hard link would not either: a write replaces one name and leaves the other names alone.)

import { dirname, join } from "node:path";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { inLanes } from "../../base/in-lanes.js";
import { type Disk, type DiskEntry, type DiskStat, maxListed } from "../disk/disk.js";
import { foldPath, isWithin, printable } from "./resolve-path.js";

/** Directories with everything in them, and files, anywhere. The last three are read as configuration too. */
export const projectDirectories: readonly string[] = [
  ...[".git", ".githooks", ".husky", ".galley", ".vscode", ".idea"],
  ...[".xcsh", ".omp", ".pi"],
];
export const projectFiles: readonly string[] = [".gitmodules", ".mcp.json", ".envrc"];
const projectNames = new Set([...projectDirectories, ...projectFiles]);

export const homeDirectories: readonly string[] = [
  ".ssh",
  ".config/autostart",
  ".config/systemd",
  ".config/fish",
  "Library/LaunchAgents",
  "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
];
export const homeFiles: readonly string[] = [
  ...[".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc"],
  ...[".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment"],
];

export interface ProtectionPaths {
  /** As given and canonical. */
  readonly homes: readonly string[];
  /** The user's configuration and our own data, as given and canonical. */
  readonly configDirectories: readonly string[];
  /** Where project configuration lies. */
  readonly projects: readonly string[];
  /** May be written, as given and canonical: none of the rules above protects anything in them. */
  readonly tempDirs: readonly string[];
}

/** By the text of the path alone. Made once, used for every path. */
export function protectedTest({ homes, configDirectories, tempDirs }: ProtectionPaths): (path: string) => boolean {
  const below = (names: readonly string[]) => homes.flatMap((home) => names.map((name) => join(home, name)));
  const directories = new Set([...configDirectories, ...below(homeDirectories)].map(foldPath));
  const files = new Set(below(homeFiles).map(foldPath));
  return (path) => {
    const tempDir = tempDirs.find((directory) => isWithin(path, directory));
    const names = path.slice(tempDir?.length ?? 0).split(/[/\\]/);
    if (names.some((name) => projectNames.has(plainName(name)))) return true;
    if (tempDir !== undefined) return false;
    const folded = foldPath(path);
    if (files.has(folded)) return true;
    for (let directory = folded; ; directory = dirname(directory)) {
      if (directories.has(directory)) return true;
      if (directory === dirname(directory)) return false;
    }
  };
}

export type ReachTest = (target: { readonly path: string; readonly stat?: DiskStat | undefined }) => Promise<boolean>;

/**
 * By what the protected paths hold and lead to, looked up now and once for any number of targets. Throws if that cannot
 * be found out.
 */
export async function surveyProtected(
  disk: Disk,
  { homes, configDirectories, projects }: Omit<ProtectionPaths, "tempDirs">,
): Promise<ReachTest> {
  /** Canonical and folded: each with everything below it. */
  const reached = new Set<string>();
  /** What a target with several names may be one name of. */
  const files: string[] = [];
  const [home] = homes;
  if (home !== undefined) await lookBelow(home, { directories: homeDirectories, names: homeFiles });
  for (const project of projects)
    await lookBelow(project, { directories: [...projectDirectories, ".git/hooks"], names: projectFiles });
  for (const directory of configDirectories) await lookInto(directory);
  let identities: Promise<ReadonlySet<string>> | undefined;

  return async ({ path, stat }) => {
    for (let directory = foldPath(path); ; directory = dirname(directory)) {
      if (reached.has(directory)) return true;
      if (directory === dirname(directory)) break;
    }
    if (stat === undefined || stat.linkCount < 2) return false;
    identities ??= identify(disk, files);
    return (await identities).has(stat.identity);
  };

  async function lookBelow(
    base: string,
    { directories, names }: { directories: readonly string[]; names: readonly string[] },
  ): Promise<void> {
    // One listing tells which of them exist; a check of each would take dozens of calls.
    const entries = await entriesOf(disk, base);
    const present = new Set(entries.map(({ name }) => foldPath(name)));
    for (const entry of entries) if (names.includes(foldPath(entry.name))) await add(join(base, entry.name), entry);
    for (const way of directories) if (present.has(foldPath(way.split("/")[0] ?? way))) await lookInto(join(base, way));
  }

  async function lookInto(directory: string): Promise<void> {
    const real = await known(directory, () => disk.realpath(directory));
    if (real === undefined) return;
    reached.add(foldPath(real));
    for (const entry of await entriesOf(disk, real)) await add(join(real, entry.name), entry);
  }

  async function add(path: string, { kind }: DiskEntry): Promise<void> {
    if (kind === "file") files.push(path);
    if (kind !== "link") return;
    const real = await known(path, () => disk.realpath(path));
    if (real !== undefined) reached.add(foldPath(real));
  }
}

async function identify(disk: Disk, files: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await inLanes(files, 8, async (path) => {
    const stat = await known(path, () => disk.lstat(path));
    if (stat) found.add(stat.identity);
  });
  return found;
}

async function entriesOf(disk: Disk, directory: string): Promise<DiskEntry[]> {
  const entries = (await known(directory, () => disk.list(directory, maxListed))) ?? [];
  // A list that was cut may have lost the very name that matters.
  if (entries.length >= maxListed) throw unknown(directory, "holds too many names");
  return entries;
}

/** Undefined for a path that does not exist or is a link loop. Throws if it cannot be read: it may hold anything. */
async function known<T>(path: string, look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw unknown(path, `cannot be read (${code ?? messageOf(error)})`, error);
  }
}

function unknown(path: string, problem: string, cause?: unknown): GalleyError {
  return new GalleyError("file_refused", `${printable(path)} ${problem}`, { cause });
}

/** What some systems read a name as: no dots or spaces at its end, no stream behind a colon, no invisible letters. */
function plainName(name: string): string {
  if (/^[\w-]+$/.test(name)) return name; // most names, and nothing can hide in them
  const plain = foldPath(name)
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/:.*$/s, "")
    .replace(/(?<=[^. ])[. ]+$/, "");
  return /^git~\d+$/.test(plain) ? ".git" : plain;
}
