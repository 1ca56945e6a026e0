export function tracesOf(secret: string): Set<string>;
export function hasTrace(text: string, traces: Iterable<string>): string | undefined;
export function filesBelow(
  directory: string,
  options: { except: (path: string) => boolean },
): { path: string; text: string }[];
