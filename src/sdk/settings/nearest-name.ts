// "Did you mean": the known name that a mistyped one is closest to.

/** At most one edit for every four letters, and never more than four. */
export function nearestName(wanted: string, known: readonly string[]): string | undefined {
  const allowed = Math.min(4, Math.max(1, Math.floor(wanted.length / 4)));
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) > allowed) continue;
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
