export const phases: Readonly<Record<string, object>>;
export const endings: Readonly<Record<string, object>>;
export interface ExitFigures {
  points: number;
  "slowest, ms": number;
  "slowest case": string;
  problems: string[];
}
export function runExits(options?: {
  rounds?: number;
  lanes?: number;
  random?: () => number;
  only?: (phase: string, ending: string) => boolean;
}): Promise<ExitFigures>;
