interface Place {
  /** What `buildProcessesModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
}

export function buildProcessesModule(directory: string): Promise<string>;

/** SIGKILL to a process that runs commands of every kind. */
export function runGalleyKills(options: Place & { count: number; seed: number }): Promise<{
  kills: number;
  /** Processes seen alive at the kills. */
  seen: number;
  survivors: number;
  watchersLeft: number;
  slowestMs: number;
  problems: string[];
}>;

/** Aborts and timeouts of commands that ignore TERM, hold pipes, or went away. */
export function runStops(options: Place & { count: number; seed: number }): Promise<{
  stops: number;
  survivors: number;
  late: number;
  slowestMs: number;
  descriptorsLeaked: number;
  problems: string[];
}>;

/** A bomb that stops by itself at 2^depth processes: the limit on processes does not bind root. */
export function runForkBomb(options: Place & { depth: number }): Promise<{
  processes: number;
  survivors: number;
  answeredMs: number;
  /** Another command, meanwhile. */
  besideMs: number;
  longestBlockMs: number;
}>;

export function runFlood(options: Place & { bytes: number }): Promise<{
  bytes: number;
  grownBytes: number;
  longestBlockMs: number;
}>;

/** A command that opens all it can, and a galley that has none left. */
export function exhaustDescriptors(options: Place): Promise<{
  opened: number;
  fine: number;
  refused: number;
  otherwise: number;
  fineAfterwards: boolean;
}>;

export function measureCost(
  options: Place & { rounds: number },
): Promise<{ ours: number; bare: number; ratio: number }>;
