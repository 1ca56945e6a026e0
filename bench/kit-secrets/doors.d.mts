export const doorNames: readonly string[];
export function randomFrom(seed: number): (below: number) => number;
