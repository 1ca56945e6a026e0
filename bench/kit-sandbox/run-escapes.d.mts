import type { Escape } from "./escapes.mjs";
import type { Prepared, Way } from "./run-as.mjs";

export interface EscapesResult {
  readonly tried: number;
  readonly shownWithout: number;
  readonly escaped: number;
  readonly otherMechanism: number;
  readonly notShown: string;
  readonly problems: readonly string[];
}
export function runEscapes(prepared: Prepared, way: Way, chosen?: readonly Escape[]): Promise<EscapesResult>;
