interface Place {
  /** What `buildSessionModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
}

export function buildSessionModule(directory: string): Promise<string>;

export function runKills(options: Place & { count: number; seed: number }): Promise<{
  kills: number;
  /** Entries that the process said were written. */
  told: number;
  lost: number;
  unopenable: number;
  damagedLines: number;
  tornEnds: number;
  /** Openings that found a dead process's lock. */
  lockLeft: number;
  /** Killed before there was a file. */
  notCreated: number;
  problems: string[];
}>;

/** Cuts at every `step`th byte of the last 64 KiB. */
export function runCuts(options: Place & { step: number }): Promise<{
  cuts: number;
  mostLinesLost: number;
  unopenable: number;
  newEntryUnreadable: number;
  bytesNotKept: number;
}>;

export function runCorruptions(options: Place & { count: number; seed: number }): Promise<{
  files: number;
  soundLines: number;
  lost: number;
  changed: number;
  unopenable: number;
  cannotGoOn: number;
}>;

export function readGiantLine(options: Place & { bytes: number }): Promise<{
  bytes: number;
  entries: number;
  expected: number;
  problemCount: number;
  elapsedMs: number;
  grownBytes: number;
}>;

export function runContention(options: Place & { rounds: number; seed: number }): Promise<{
  rounds: number;
  openings: number;
  holders: number;
  doubleHolders: number;
  interleaved: number;
  lost: number;
  damagedLines: number;
  problems: string[];
}>;
