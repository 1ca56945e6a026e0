export function tracesOf(secret: string): Set<string>;
export function hasTrace(text: string, traces: Iterable<string>): string | undefined;
