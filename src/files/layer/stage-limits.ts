// The figures of staged commands, and the sentences that name them.

export interface StageLimits {
  /** Of one command, ignored files not counted: paths, and bytes before and after. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** Of one file, before or after, holes included. */
  readonly maxFileBytes: number;
  /** What a layer may take on the disk while a command runs. */
  readonly maxLayerBytes: number;
  /** The largest tree that is copied where no overlay is possible. */
  readonly copyMaxFiles: number;
  readonly copyMaxBytes: number;
}

export const defaultStageLimits: StageLimits = {
  maxFiles: 10_000,
  maxBytes: 64 * 2 ** 20,
  maxFileBytes: 16 * 2 ** 20,
  maxLayerBytes: 4 * 2 ** 30,
  copyMaxFiles: 20_000,
  copyMaxBytes: 512 * 2 ** 20,
};

export function tooManyChanges(changed: { files: number; bytes: number }, limits: StageLimits): string {
  const limit = `${counted(limits.maxFiles)}, ${sizeText(limits.maxBytes)}`;
  return `The command changed ${counted(changed.files)} (${sizeText(changed.bytes)}), more than can be staged (${limit}). Its effects were dropped.`;
}

export function layerTooLarge({ maxLayerBytes }: StageLimits): string {
  return `The command wrote more than can be staged (${sizeText(maxLayerBytes)}). It was stopped, and its effects were dropped.`;
}

const notPossible = "Staging commands is not possible here: ";

/** `reason` is a whole sentence, or the beginning of one. */
export function viewRefusal(reason: string): string {
  return `${notPossible}${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
}

export const noUserNamespaces = "User namespaces are not allowed here (container or kernel setting).";

/** `512 B`, `1.1 MiB`, `64 MiB`. */
export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const shown = unit === 0 ? String(value) : value.toFixed(1).replace(/\.0$/, "");
  return `${shown} ${units[unit]}`;
}

/** `1 file`, `12,345 files`. */
function counted(files: number): string {
  return `${files.toLocaleString("en-US")} file${files === 1 ? "" : "s"}`;
}
