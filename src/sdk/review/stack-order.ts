// The order in which actions under review are listed: what rests on another comes right below it.

interface Stacked {
  readonly key: string;
  /** The oldest first: the last is the one that it rests on directly. */
  readonly restsOn: readonly { readonly key: string }[];
}

/** The others stay in their order. */
export function stackOrder<T extends Stacked>(actions: readonly T[]): T[] {
  const listed = new Set(actions.map(({ key }) => key));
  const above = new Map<string | undefined, T[]>();
  for (const action of actions) {
    const base = action.restsOn.findLast(({ key }) => listed.has(key) && key !== action.key)?.key;
    above.set(base, [...(above.get(base) ?? []), action]);
  }
  const withAbove = (action: T): T[] => [action, ...(above.get(action.key) ?? []).flatMap(withAbove)];
  return (above.get(undefined) ?? []).flatMap(withAbove);
}
