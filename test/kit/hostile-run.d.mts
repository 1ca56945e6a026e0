export interface HostileFigures {
  /** Lines sent, and the good commands among them. */
  frames: number;
  valid: number;
  /** Good commands answered; answers that were not the one due; answers that never came. */
  answered: number;
  wrong: number;
  missing: number;
  problems: { owed: string | undefined; told: string }[];
  elapsedMs: number;
  p99Ms: number;
  peakBytes: number | undefined;
  exitCode: number | null;
  stderr: string;
}

export function runHostile(options: { seed: number; count: number; patienceMs?: number }): Promise<HostileFigures>;
