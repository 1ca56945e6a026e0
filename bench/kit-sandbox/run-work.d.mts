import type { Prepared, Way } from "./run-as.mjs";
import type { Work } from "./work.mjs";

export interface WorkResult {
  readonly tried: number;
  readonly failed: number;
  readonly mechanism: string;
  readonly problems: readonly string[];
}
export function runWork(prepared: Prepared, way: Way, chosen?: readonly Work[]): Promise<WorkResult>;
