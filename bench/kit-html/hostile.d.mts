export function hostileSession(seed: number): string;
