interface Place {
  /** What `buildJournalModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
}

export function buildJournalModule(directory: string): Promise<string>;

/** The mutants with these names, or all. */
export function runMutants(options: {
  directory: string;
  scale?: number;
  seed?: number;
  names?: readonly string[];
}): Promise<{
  mutants: number;
  noticed: number;
  explained: number;
  unexplained: number;
  /** Those that nobody noticed, with the reason where there is one. */
  alive: string[];
  problems: string[];
}>;

export function runRealKills(options: Place & { count: number; seed: number }): Promise<{
  kills: number;
  atRandomTimes: number;
  /** Not killed: the call to be killed at never came. */
  toTheEnd: number;
  whileRecovering: number;
  old: number;
  new: number;
  torn: number;
  problems: string[];
}>;

export function runPreviews(options: Place & { count: number; seed: number }): Promise<{
  applies: number;
  files: number;
  different: number;
  leftOvers: number;
  problems: string[];
}>;

export function runFullDisks(options: Place & { rounds: number; seed: number }): Promise<{
  rounds: number;
  applied: number;
  refused: number;
  torn: number;
  problems: string[];
  /** Why it could not be tried. */
  skipped?: string;
}>;

export function measureCrowd(options: Place & { files: number; repeat?: number }): Promise<{
  files: number;
  applyMs: number;
  plainMs: number;
  problems: string[];
}>;
