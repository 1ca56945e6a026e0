// A text cut to a number of columns, with one sign for what is missing.

import { truncateToWidth } from "@earendil-works/pi-tui";

export function cutTo(text: string, columns: number, sign = "…"): string {
  return truncateToWidth(text, Math.max(0, columns), sign);
}
