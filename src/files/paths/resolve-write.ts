// From what a model wrote to a path that may be written: follow what exists, add what is missing, stay within the
// writable roots and away from protected paths, and ask the user where only the user may decide.

import { basename, dirname, join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { inLanes } from "../../base/in-lanes.js";
import type { Disk, DiskStat } from "../disk/disk.js";
import { cannotWrite, ifAbsent, writeFailure } from "../refusals.js";
import type { Permit, PermitQuestion, PlannedEntry, WriteTarget } from "../workspace.js";
import type { GitTestOptions } from "./git-test.js";
import { type ProtectionPaths, protectedTest, type ReachTest, surveyProtected } from "./protected-paths.js";
import { displayPath, isWithin, printable, spellings } from "./resolve-path.js";

export interface WriteRules {
  cwd: string;
  home: string;
  /** The user's configuration and our own data. */
  configDirectories: readonly string[];
  /** Canonical. Not resolved again: a link that replaces it later must not change what may be written. */
  projectRoot: string;
  /** More directories that may be written, as the user spelled them. */
  roots: readonly string[];
  tempDir: string | undefined;
  /** Of the roots, canonical: git directories of linked worktrees. Asked for each plan. Default: none. */
  repositoriesOf?: ((roots: readonly string[]) => Promise<readonly string[]>) | undefined;
  /** Default: git is not thought of. */
  gitTest?: ((options: GitTestOptions) => Promise<(path: string) => boolean>) | undefined;
  permit: Permit | undefined;
}

/** What a spelling leads to. */
interface Location {
  readonly requested: string;
  /** Canonical as far as it exists. */
  readonly path: string;
  /** Of the path itself, if it is there. */
  readonly stat?: DiskStat;
  /** How many components of the requested path are not there. */
  readonly missing: number;
}

interface Borders {
  roots: readonly string[];
  protection: ProtectionPaths;
  isProtected: (path: string) => boolean;
}

interface Asking {
  readonly reason: "protected" | "outside_roots";
  /** Why the rule could not be evaluated. */
  readonly doubt?: string;
}

const lookedAtOnce = 8;
/** From so many on it is faster to look at one after another without another thread. */
const manyInputs = 16;

type Eyes = Pick<Disk, "lstat" | "realpath">;

export interface WriteResolver {
  resolve(input: string): Promise<WriteTarget>;
  /** The same for many paths, in their order: protected paths are looked up once, after all inputs were resolved. */
  resolveAll(inputs: readonly string[]): Promise<WriteTarget[]>;
  /** The same rules for what a plan does to links, directories and git data. Asks no user. */
  checkEntries(entries: readonly PlannedEntry[]): Promise<void>;
  /** Whether a canonical path lies in a writable root. */
  isInRoots(path: string): Promise<boolean>;
}

export function createWriteResolver(disk: Disk, rules: WriteRules): WriteResolver {
  const { cwd, home, permit } = rules;
  let borders: Promise<Borders> | undefined;

  return {
    async resolve(input) {
      const [target] = await resolveAll([input]);
      return target as WriteTarget;
    },
    resolveAll,
    async checkEntries(entries) {
      borders ??= findBorders();
      const found = await borders;
      const { checkEntries } = await import("./check-entries.js"); // only few plans have such entries
      const isReached = await surveyProtected(disk, found.protection);
      const repositories = (await rules.repositoriesOf?.(found.roots)) ?? [];
      await checkEntries(entries, { disk, ...found, repositories, isReached });
    },
    async isInRoots(path) {
      borders ??= findBorders();
      return (await borders).roots.some((root) => isWithin(path, root));
    },
  };

  async function resolveAll(inputs: readonly string[]): Promise<WriteTarget[]> {
    borders ??= findBorders();
    const found = await borders;
    const locations: Location[] = [];
    const eyes = inputs.length < manyInputs ? () => disk : await quickEyes();
    await inLanes(inputs.entries(), lookedAtOnce, ([index, input]) =>
      failingFor(input, async () => {
        locations[index] = await choose(spellings(input, { cwd, home }), eyes);
      }),
    );
    let survey: Promise<ReachTest> | undefined;
    let isOfGit: ReturnType<NonNullable<typeof rules.gitTest>> | undefined;
    const isReached: ReachTest = async (location) => {
      if (found.protection.tempDirs.some((directory) => isWithin(location.path, directory))) return false;
      isOfGit ??= rules.gitTest?.({
        trees: found.protection.projects,
        made: locations.map(({ path }) => path),
        cwd: rules.projectRoot,
        home,
      });
      if ((await isOfGit)?.(location.path)) return true;
      survey ??= surveyProtected(disk, found.protection);
      return (await survey)(location);
    };
    const targets: WriteTarget[] = [];
    for (const [index, input] of inputs.entries())
      await failingFor(input, async () => {
        const location = locations[index] as Location;
        targets[index] = targetAt(location, input);
        await refuseUnlessAllowed(location, found, isReached);
      });
    return targets;
  }

  /** Below the project's root, which is searched in the same way. */
  async function quickEyes(): Promise<(path: string) => Eyes> {
    const { projectRoot } = rules;
    const bulk = await disk
      .lstat(projectRoot)
      .then(({ identity }) => disk.inBulk({ path: projectRoot, identity }))
      .catch(() => disk); // what is looked at next tells why
    return (path) => (isWithin(path, projectRoot) ? bulk : disk);
  }

  async function failingFor(input: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof GalleyError) throw error;
      throw writeFailure(displayPath(spellings(input, { cwd, home })[0] ?? input, cwd), error);
    }
  }

  async function findBorders(): Promise<Borders> {
    const both = async (path: string) => [...new Set([path, await canonical(path)])];
    const all = async (paths: readonly string[]) => (await Promise.all(paths.map(both))).flat();
    const tempDirs = rules.tempDir === undefined ? [] : await both(rules.tempDir);
    const more = rules.roots.map((root) => spellings(root, { cwd, home })[0] ?? root);
    const protection = {
      homes: await both(home),
      configDirectories: await all(rules.configDirectories),
      projects: [...new Set([rules.projectRoot, await canonical(cwd)])],
      tempDirs,
    };
    return {
      roots: [rules.projectRoot, ...tempDirs.slice(-1), ...(await Promise.all(more.map(canonical)))],
      protection,
      isProtected: protectedTest(protection),
    };
  }

  /** A path that cannot be resolved stays as it was given: no canonical path is found below it by mistake. */
  async function canonical(path: string): Promise<string> {
    const location = await locate(path).catch(() => undefined);
    return location?.path ?? path;
  }

  /**
   * The first spelling that exists, as for reading. For a new file the spelling of which the longest part exists, so that
   * a directory whose name begins with `@` is found; between equals the plainest, so that a mention is not a name.
   */
  async function choose(paths: readonly string[], eyes: (path: string) => Eyes): Promise<Location> {
    let best: Location | undefined;
    for (const path of paths) {
      const location = await locate(path, eyes(path));
      if (location.stat) return location;
      if (best === undefined || location.missing <= best.missing) best = location;
    }
    if (best === undefined) throw new Error("a path has at least one spelling");
    return best;
  }

  function targetAt({ requested, path, stat }: Location, input: string): WriteTarget {
    const shown = displayPath(requested, cwd);
    if (stat?.kind === "directory" || input.endsWith("/")) throw cannotWrite(shown, "it is a directory");
    if (stat === undefined) return { path, displayPath: shown, kind: "absent" };
    if (stat.kind === "special") throw cannotWrite(shown, `it is ${stat.kindName}, not a regular file`);
    if (stat.kind === "link") throw cannotWrite(shown, "it changed while it was looked at");
    return { path, displayPath: shown, kind: "file", identity: stat.identity };
  }

  async function refuseUnlessAllowed(location: Location, found: Borders, isReached: ReachTest): Promise<void> {
    const asking = await reasonToAsk(location, found, isReached);
    if (asking === undefined) return;
    const { reason, doubt } = asking;
    const shown = displayPath(location.requested, cwd);
    if (await isAllowed(permit, { intent: "write", path: location.path, displayPath: shown, reason })) return;
    const what = location.path === location.requested ? "it" : `it leads to ${printable(location.path)}, which`;
    if (doubt !== undefined)
      throw cannotWrite(
        shown,
        `${what} may be protected: ${doubt}, so its target is unknown. Ask the user to make it readable`,
      );
    if (reason === "protected")
      throw cannotWrite(shown, `${what} is protected and only the user may change it. Ask the user to do so`);
    throw cannotWrite(
      shown,
      `${what} lies outside of ${printable(rules.projectRoot)}. Write there, or ask the user to add the directory to the setting workspace.roots`,
    );
  }

  async function reasonToAsk(
    location: Location,
    { roots, isProtected }: Borders,
    isReached: ReachTest,
  ): Promise<Asking | undefined> {
    if (isProtected(location.requested) || isProtected(location.path)) return { reason: "protected" };
    const isOutside = !roots.some((root) => isWithin(location.path, root));
    if (isOutside && !permit) return { reason: "outside_roots" }; // refused either way, so the longer check is not needed
    try {
      if (await isReached(location)) return { reason: "protected" };
    } catch (error) {
      return { reason: "protected", doubt: messageOf(error) }; // a rule that cannot be evaluated counts as broken
    }
    return isOutside ? { reason: "outside_roots" } : undefined;
  }

  /** Follows what exists, from the whole path upwards, and adds the names that are missing. */
  async function locate(requested: string, eyes: Eyes = disk): Promise<Location> {
    const tail: string[] = [];
    for (let at = requested; ; at = dirname(at)) {
      const subject = () => (at === requested ? "it" : displayPath(at, cwd));
      const real = await eyes.realpath(at).catch(ifAbsent);
      if (real !== undefined) {
        const stat = await eyes.lstat(real);
        if (tail.length === 0) return { requested, path: real, stat, missing: 0 };
        if (stat.kind !== "directory")
          throw cannotWrite(displayPath(requested, cwd), `${subject()} is not a directory`);
        return { requested, path: join(real, ...tail), missing: tail.length };
      }
      // A name that exists and leads nowhere is a dangling link; its target is unknown.
      if (await disk.lstat(at).catch(ifAbsent))
        throw cannotWrite(displayPath(requested, cwd), `${subject()} is a link that leads nowhere`);
      tail.unshift(basename(at));
    }
  }
}

/** Anything but `true` means no. */
export async function isAllowed(permit: Permit | undefined, question: PermitQuestion): Promise<boolean> {
  try {
    return (await permit?.(question)) === true;
  } catch {
    return false; // a failed answer is not a yes
  }
}
