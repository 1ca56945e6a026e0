// What was cut of an output, in the members that hosts of pi read, beside `meta`, which says more.

export function shownTruncation({ truncation }: { readonly truncation?: Cut | undefined }): { truncation?: object } {
  if (!truncation) return {};
  const { truncatedBy, totalLines, totalBytes, outputLines, outputBytes } = truncation;
  return { truncation: { truncated: true, truncatedBy, totalLines, totalBytes, outputLines, outputBytes } };
}

interface Cut {
  readonly truncatedBy: "lines" | "bytes";
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
}
