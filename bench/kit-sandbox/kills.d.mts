import type { Prepared, Way } from "./run-as.mjs";

export interface BoxKills {
  readonly kills: number;
  /** In half of the rounds the kill waits for the command's processes. */
  readonly seenRunning: number;
  readonly survivors: number;
  readonly stubsLeft: number;
  readonly problems: readonly string[];
}
/** As the user that runs it. */
export function runBoxKills(
  prepared: Prepared,
  options: { readonly mechanism: Way["mechanism"]; readonly count: number },
): Promise<BoxKills>;
