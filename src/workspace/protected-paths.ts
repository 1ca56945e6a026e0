// What only the user may change, in any project: the places that decide what runs next. A place is known by its words,
// whether it exists or not, and by what it leads to, so that neither a link into it nor a link out of it is a way
// round. (A hard link would be none anyway: writing replaces one name and leaves the file behind the others alone.)

import { dirname, join } from "node:path";
import { systemCode } from "../base/errors.js";
import { type Disk, type DiskEntry, type DiskStat, maxListed } from "./disk.js";
import { foldPath, isWithin } from "./resolve-path.js";

/** Directories with everything in them, and files, anywhere. The last three are read as configuration too. */
const projectDirectories = [".git", ".galley", ".vscode", ".idea", ".xcsh", ".omp", ".pi"];
const projectFiles = [".gitmodules", ".mcp.json", ".envrc"];
const projectNames = new Set([...projectDirectories, ...projectFiles]);

const homeDirectories = [
  ".ssh",
  ".config/autostart",
  ".config/systemd",
  ".config/fish",
  "Library/LaunchAgents",
  "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
];
const homeFiles = [
  ...[".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc"],
  ...[".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment"],
];

export interface ProtectedPlaces {
  /** As given and canonical. */
  readonly homes: readonly string[];
  /** The user's configuration and our own data, as given and canonical. */
  readonly configDirectories: readonly string[];
  /** Where project configuration lies. */
  readonly projects: readonly string[];
  /** Ours to write, as given and canonical: whatever stands above protects nothing in it. */
  readonly tempDirs: readonly string[];
}

/** By the words alone. Made once, asked for every path. */
export function protectedTest({ homes, configDirectories, tempDirs }: ProtectedPlaces): (path: string) => boolean {
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
    for (let place = folded; ; place = dirname(place)) {
      if (directories.has(place)) return true;
      if (place === dirname(place)) return false;
    }
  };
}

/** By what the protected places hold and lead to. Throws where that cannot be found out. */
export async function isReachedFromProtected(
  disk: Disk,
  target: { path: string; stat?: DiskStat | undefined },
  { homes, configDirectories, projects, tempDirs }: ProtectedPlaces,
): Promise<boolean> {
  if (tempDirs.some((directory) => isWithin(target.path, directory))) return false;
  const [home] = homes;
  if (home !== undefined && (await isReachedFrom(home, { directories: homeDirectories, files: homeFiles })))
    return true;
  for (const project of projects)
    if (await isReachedFrom(project, { directories: [...projectDirectories, ".git/hooks"], files: projectFiles }))
      return true;
  for (const directory of configDirectories) if (await isReachedThrough(directory)) return true;
  return false;

  async function isReachedFrom(
    base: string,
    { directories, files }: { directories: readonly string[]; files: readonly string[] },
  ): Promise<boolean> {
    // One listing tells which of them are there; asking for each would be dozens of calls.
    const entries = await entriesOf(base);
    const present = new Set(entries.map(({ name }) => foldPath(name)));
    for (const entry of entries)
      if (files.includes(foldPath(entry.name)) && (await isTarget(join(base, entry.name), entry))) return true;
    for (const way of directories)
      if (present.has(foldPath(way.split("/")[0] ?? way)) && (await isReachedThrough(join(base, way)))) return true;
    return false;
  }

  async function isReachedThrough(directory: string): Promise<boolean> {
    const real = await disk.realpath(directory).catch(ifNowhere);
    if (real === undefined) return false;
    if (isWithin(target.path, real)) return true;
    for (const entry of await entriesOf(real)) if (await isTarget(join(real, entry.name), entry)) return true;
    return false;
  }

  async function isTarget(path: string, entry: DiskEntry): Promise<boolean> {
    if (entry.kind === "link") {
      const real = await disk.realpath(path).catch(ifNowhere);
      return real !== undefined && isWithin(target.path, real);
    }
    if (target.stat === undefined || target.stat.linkCount < 2 || entry.kind !== "file") return false;
    return (await disk.lstat(path).catch(ifNowhere))?.identity === target.stat.identity;
  }

  async function entriesOf(directory: string): Promise<DiskEntry[]> {
    return (await disk.list(directory, maxListed).catch(ifNowhere)) ?? [];
  }
}

/** Not there, or round in a circle; or closed to this user, for whom it then starts nothing. Any other failure goes on. */
function ifNowhere(error: unknown): undefined {
  if (!["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(systemCode(error) ?? "")) throw error;
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
