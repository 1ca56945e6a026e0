// A moment for people, in UTC: a page without a script cannot know where its reader is.

/** Empty for a time that is not known or that no calendar has. */
export function renderTime(timeMs: number): string {
  const date = new Date(timeMs);
  if (!timeMs || Number.isNaN(date.getTime())) return "";
  const iso = date.toISOString();
  return ` <time datetime="${iso}">${iso.slice(0, -8).replace("T", " ")}</time>`;
}
