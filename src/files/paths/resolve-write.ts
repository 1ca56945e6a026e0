// From what a model wrote to a place that may be written: follow what exists, add what is missing, stay within the
// writable roots and away from what is protected, and ask the user where only the user may decide.

import { basename, dirname, join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { inLanes } from "../../base/in-lanes.js";
import type { Disk, DiskStat } from "../disk/disk.js";
import { cannotWrite, ifAbsent, writeFailure } from "../refusals.js";
import type { Permit, PermitQuestion, WriteTarget } from "../workspace.js";
import { type ProtectedPlaces, protectedTest, type ReachTest, surveyProtected } from "./protected-paths.js";
import { displayPath, isWithin, printable, spellings } from "./resolve-path.js";

export interface WriteRules {
  cwd: string;
  home: string;
  /** The user's configuration and our own data. */
  configDirectories: readonly string[];
  /** Canonical. Not looked up again: a link put in its place later must not move the border. */
  projectRoot: string;
  /** More places to write, as the user spelt them. */
  roots: readonly string[];
  tempDir: string | undefined;
  permit: Permit | undefined;
}

/** What a spelling leads to. */
interface Place {
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
  places: ProtectedPlaces;
  isProtected: (path: string) => boolean;
}

interface Asking {
  readonly reason: "protected" | "outside_roots";
  /** Why the rule could not be evaluated. */
  readonly doubt?: string;
}

const lookedAtOnce = 8;

export interface WriteResolver {
  resolve(input: string): Promise<WriteTarget>;
  /** The same for many, in their order: what is protected is looked up once, after all of them were followed. */
  resolveAll(inputs: readonly string[]): Promise<WriteTarget[]>;
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
    async isInRoots(path) {
      borders ??= findBorders();
      return (await borders).roots.some((root) => isWithin(path, root));
    },
  };

  async function resolveAll(inputs: readonly string[]): Promise<WriteTarget[]> {
    borders ??= findBorders();
    const found = await borders;
    const places: Place[] = [];
    await inLanes(inputs.entries(), lookedAtOnce, ([index, input]) =>
      failingFor(input, async () => {
        places[index] = await choose(spellings(input, { cwd, home }));
      }),
    );
    let survey: Promise<ReachTest> | undefined;
    const isReached: ReachTest = async (place) => {
      if (found.places.tempDirs.some((directory) => isWithin(place.path, directory))) return false;
      survey ??= surveyProtected(disk, found.places);
      return (await survey)(place);
    };
    const targets: WriteTarget[] = [];
    for (const [index, input] of inputs.entries())
      await failingFor(input, async () => {
        const place = places[index] as Place;
        targets[index] = targetAt(place, input);
        await refuseUnlessAllowed(place, found, isReached);
      });
    return targets;
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
    const places = {
      homes: await both(home),
      configDirectories: await all(rules.configDirectories),
      projects: [...new Set([rules.projectRoot, await canonical(cwd)])],
      tempDirs,
    };
    return {
      roots: [rules.projectRoot, ...tempDirs.slice(-1), ...(await Promise.all(more.map(canonical)))],
      places,
      isProtected: protectedTest(places),
    };
  }

  /** What cannot be followed stays as it was given: no canonical path is ever found below it by mistake. */
  async function canonical(path: string): Promise<string> {
    const place = await locate(path).catch(() => undefined);
    return place?.path ?? path;
  }

  /**
   * The first spelling that exists, as for reading. For a new file the one that more of exists, so that a directory
   * whose name begins with `@` is met; between equals the plainest, so that a mention does not become a name.
   */
  async function choose(paths: readonly string[]): Promise<Place> {
    let best: Place | undefined;
    for (const path of paths) {
      const place = await locate(path);
      if (place.stat) return place;
      if (best === undefined || place.missing <= best.missing) best = place;
    }
    if (best === undefined) throw new Error("a path has at least one spelling");
    return best;
  }

  function targetAt({ requested, path, stat }: Place, input: string): WriteTarget {
    const shown = displayPath(requested, cwd);
    if (stat?.kind === "directory" || input.endsWith("/")) throw cannotWrite(shown, "it is a directory");
    if (stat === undefined) return { path, displayPath: shown, kind: "absent" };
    if (stat.kind === "special") throw cannotWrite(shown, `it is ${stat.kindName}, not a regular file`);
    if (stat.kind === "link") throw cannotWrite(shown, "it changed while it was looked at");
    return { path, displayPath: shown, kind: "file", identity: stat.identity };
  }

  async function refuseUnlessAllowed(place: Place, found: Borders, isReached: ReachTest): Promise<void> {
    const asking = await reasonToAsk(place, found, isReached);
    if (asking === undefined) return;
    const { reason, doubt } = asking;
    const shown = displayPath(place.requested, cwd);
    if (await isAllowed(permit, { intent: "write", path: place.path, displayPath: shown, reason })) return;
    const what = place.path === place.requested ? "it" : `it leads to ${printable(place.path)}, which`;
    if (doubt !== undefined)
      throw cannotWrite(
        shown,
        `${what} may be protected: ${doubt}, and nobody can tell what it leads to. Ask the user to make it readable`,
      );
    if (reason === "protected")
      throw cannotWrite(shown, `${what} is protected and only the user may change it. Ask the user to do so`);
    throw cannotWrite(
      shown,
      `${what} lies outside of ${printable(rules.projectRoot)}. Write there, or ask the user to add the place to the setting workspace.roots`,
    );
  }

  async function reasonToAsk(
    place: Place,
    { roots, isProtected }: Borders,
    isReached: ReachTest,
  ): Promise<Asking | undefined> {
    if (isProtected(place.requested) || isProtected(place.path)) return { reason: "protected" };
    const isOutside = !roots.some((root) => isWithin(place.path, root));
    if (isOutside && !permit) return { reason: "outside_roots" }; // refused either way, so the longer look is spared
    try {
      if (await isReached(place)) return { reason: "protected" };
    } catch (error) {
      return { reason: "protected", doubt: messageOf(error) }; // a rule that cannot be evaluated speaks against
    }
    return isOutside ? { reason: "outside_roots" } : undefined;
  }

  /** Follows what exists, from the whole path upwards, and adds the names that are missing. */
  async function locate(requested: string): Promise<Place> {
    const tail: string[] = [];
    for (let at = requested; ; at = dirname(at)) {
      const subject = () => (at === requested ? "it" : displayPath(at, cwd));
      const real = await disk.realpath(at).catch(ifAbsent);
      if (real !== undefined) {
        const stat = await disk.lstat(real);
        if (tail.length === 0) return { requested, path: real, stat, missing: 0 };
        if (stat.kind !== "directory")
          throw cannotWrite(displayPath(requested, cwd), `${subject()} is not a directory`);
        return { requested, path: join(real, ...tail), missing: tail.length };
      }
      // A name that is there and leads nowhere is a link, and what it would lead to is anybody's guess.
      if (await disk.lstat(at).catch(ifAbsent))
        throw cannotWrite(displayPath(requested, cwd), `${subject()} is a link that leads nowhere`);
      tail.unshift(basename(at));
    }
  }
}

/** Only a plain yes is one. */
export async function isAllowed(permit: Permit | undefined, question: PermitQuestion): Promise<boolean> {
  try {
    return (await permit?.(question)) === true;
  } catch {
    return false; // whoever cannot answer did not say yes
  }
}
