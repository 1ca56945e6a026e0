// In whose place galley stands: data alone. The code that parses an option or answers a command looks here; there is no second
// code path for a dialect.

import { basename } from "node:path";
import { GalleyError } from "../base/errors.js";
import type { Feature } from "./features.js";

export interface Dialect {
  readonly name: "galley" | "pi" | "omp";
  /** What `--version` begins with: the newest version whose clients galley passes. */
  readonly version?: string;
  /** Below home: settings, models, keys, sessions and packages where no variable names another directory. */
  readonly directory: string;
  /** On from the start, whatever is negotiated later. */
  readonly features: readonly Feature[];
  /** A prompt that is refused has one answer, not a success and then the failure. */
  readonly answersPromptOnce: boolean;
  /** An answer has no member for a text that is not there. */
  readonly omitsMissingText: boolean;
  /** A thinking level that no model knows is the lowest. */
  readonly clampsLevels: boolean;
  /** Each word of a one-shot run is a prompt. */
  readonly promptsByWord: boolean;
  /** Only what the user must act on goes to stderr in RPC mode: hosts show each line as an error. */
  readonly isQuiet: boolean;
  /** `details.diff` is for display; the unified text is in `details.patch`. */
  readonly showsDiffs: boolean;
}

const galley: Dialect = {
  name: "galley",
  directory: ".galley",
  features: [],
  answersPromptOnce: false,
  omitsMissingText: false,
  clampsLevels: false,
  promptsByWord: false,
  isQuiet: false,
  showsDiffs: false,
};

const pi: Dialect = {
  name: "pi",
  version: "0.87.1",
  directory: ".pi",
  features: ["echo-ids", "queue-events", "state-events"],
  answersPromptOnce: true,
  omitsMissingText: true,
  clampsLevels: true,
  promptsByWord: true,
  isQuiet: true,
  showsDiffs: true,
};

export const dialects: Readonly<Record<Dialect["name"], Dialect>> = {
  galley,
  pi,
  omp: { ...pi, name: "omp", directory: ".omp" },
};

/** By GALLEY_AS, else by the name of the started file. Throws `usage` for a name that is none. */
export function dialectOf(started: string | undefined, { GALLEY_AS: named }: NodeJS.ProcessEnv): Dialect {
  if (named && !Object.hasOwn(dialects, named))
    throw new GalleyError("usage", `GALLEY_AS must be one of ${Object.keys(dialects).join(", ")}, not "${named}".`);
  const name = named || /^(?:galley-)?(pi|omp)(?:\.js)?$/.exec(basename(started ?? ""))?.[1] || "galley";
  return dialects[name as Dialect["name"]];
}

export function versionText({ version }: Dialect, own: string): string {
  return version === undefined ? own : `${version} (galley ${own})`;
}
