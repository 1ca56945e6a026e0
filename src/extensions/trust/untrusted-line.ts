// The one line about what a project has and the user has not trusted. It counts what would have been used, and names the
// command that shows it.

import type { TrustItemKind } from "./digest-project.js";

/** `2 tools and 1 extension of this project are not trusted: galley trust`. */
export function untrustedLine(kinds: readonly Exclude<TrustItemKind, "mcp">[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const parts = [...counts].map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  const listed = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `${listed} of this project ${kinds.length === 1 ? "is" : "are"} not trusted: galley trust`;
}
