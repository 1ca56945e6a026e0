// The mouse, where the user switched it on: the wheel is three arrow keys, a click on the alternate screen is a place. In
// the normal screen we do not know at which row a list begins, so clicks there are nothing.

export const mouseOn = "\u001b[?1000h\u001b[?1006h";
export const mouseOff = "\u001b[?1006l\u001b[?1000l";

const arrowUp = "\u001b[A";
const arrowDown = "\u001b[B";
const rowsPerTurn = 3;
const prefix = "\u001b[<";

export type MouseDeed =
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  /** From 0. */
  | { readonly kind: "click"; readonly column: number; readonly row: number }
  | { readonly kind: "nothing" };

/** Undefined: it is no report of the mouse. */
export function mouseDeed(data: string): MouseDeed | undefined {
  const found = /^(\d+);(\d+);(\d+)([Mm])$/.exec(data.slice(prefix.length));
  if (!found || !data.startsWith(prefix)) return undefined;
  const [button, column, row] = found.slice(1, 4).map(Number) as [number, number, number];
  const isPressed = found[4] === "M";
  if (button === 64 || button === 65)
    return { kind: "keys", keys: Array.from({ length: rowsPerTurn }, () => (button === 64 ? arrowUp : arrowDown)) };
  return button === 0 && isPressed ? { kind: "click", column: column - 1, row: row - 1 } : { kind: "nothing" };
}

/** For lists and questions in the normal screen: keys as they came, and those that the wheel stands for. */
export function wheelKeys(data: string): readonly string[] {
  const deed = mouseDeed(data);
  if (!deed) return [data];
  return deed.kind === "keys" ? deed.keys : [];
}
