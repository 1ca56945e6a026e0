export function runFidelity(options: {
  /** What `buildWorkspaceModule` answered. */
  module: string;
  /** For scratch files; the caller removes it. */
  directory: string;
  count: number;
  seed: number;
  largeBytes: number;
}): Promise<{
  files: number;
  links: number;
  hardLinks: number;
  bytesChanged: number;
  modesChanged: number;
  linksBroken: number;
  leftOvers: number;
  problems: string[];
}>;
