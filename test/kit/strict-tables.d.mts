/** By command and by type of frame; what stands behind a name is the strict reader's business. */
export const dataByCommand: Readonly<Record<string, unknown>>;
export const frames: Readonly<Record<string, object>>;
