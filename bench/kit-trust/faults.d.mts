export function buildTrustModule(directory: string): Promise<string>;

/** The tricks that a repository can be made of. */
export const kindNames: string[];

/** The kernel tells what is started; without it, short-lived programs may go unseen. */
export const hasStrace: boolean;

/** Hostile repositories, visited by a program. */
export function runHostile(options: {
  /** For the repositories; the caller removes it. */
  directory: string;
  seed: number;
  /** Of repositories; default: one of each kind. */
  count?: number;
  kinds?: readonly string[];
  /** Every so many are visited in every way, the others only by protocol. */
  visitsEvery?: number;
  /** Default: galley. */
  program?: readonly string[];
  canTrace?: boolean;
  patienceMs?: number;
}): Promise<{
  repositories: number;
  visits: number;
  executions: number;
  hung: number;
  /** Visits at which the program said nothing at all. */
  silent: number;
  /** The kinds that left their marker. */
  caught: string[];
  problems: string[];
}>;

/** A trusted project, changed in one way at a time. */
export function runMutations(options: {
  /** What `buildTrustModule` answered. */
  module: string;
  directory: string;
  count: number;
  seed: number;
  checkEvery?: number;
}): Promise<{
  mutations: number;
  unnoticed: number;
  notRestored: number;
  byKind: Record<string, number>;
  problems: string[];
}>;
