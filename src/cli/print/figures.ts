// Numbers as people read them.

export function countText(amount: number, noun: string): string {
  return `${amount.toLocaleString("en-US")} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Tokens and dollars; a figure that is zero is left out: a price may not be known. */
export function amountText({ tokens, cost }: { tokens: number; cost: number }): string[] {
  return [...(tokens > 0 ? [countText(tokens, "token")] : []), ...(cost > 0 ? [dollars(cost)] : [])];
}

function dollars(cost: number): string {
  return cost < 0.0001 ? "under $0.0001" : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

export function secondsText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `+3 -1`; empty where nothing is known. */
export function changeText({ added, removed }: { added?: number; removed?: number }): string {
  return added === undefined || removed === undefined ? "" : `+${added} -${removed}`;
}
