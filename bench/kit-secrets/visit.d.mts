/** One secret by one door, heard back by every path. */
export function visit(
  door: string,
  options: { directory: string; random: (below: number) => number },
): Promise<{
  places: number;
  /** Places that hold the secret, or a part of it. */
  hits: number;
  /** Places that do not even hold the decoy. */
  unreached: number;
  /** Files that were not written as the model said. */
  inexact: number;
  problems: string[];
}>;
