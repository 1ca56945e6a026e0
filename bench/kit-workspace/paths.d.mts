interface Place {
  /** What `buildWorkspaceModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
}

export function buildWorkspaceModule(directory: string): Promise<string>;

export function runPaths(options: Place & { count: number; seed: number }): Promise<{
  paths: number;
  accepted: number;
  /** Inputs that could mean a protected place. */
  protectedPaths: number;
  escapes: number;
  falseAccepts: number;
  falseRefusals: number;
  problems: string[];
}>;

export function runSwaps(options: Place & { rounds: number; seed: number }): Promise<{
  rounds: number;
  written: number;
  refused: number;
  /** How often the other thread put a link in place meanwhile. */
  swaps: number;
  outsideWrites: number;
  leftOvers: number;
  torn: number;
  problems: string[];
}>;
