// What is wrong in a models file, and how it is told.

export interface ModelProblem {
  readonly file: string;
  /** As in `providers.acme.models[2].id`; empty when the whole file is meant. */
  readonly path: string;
  readonly message: string;
  readonly about: ProblemSubject;
}

/** What was left out. A `model` without an id is one whose id could not be read. */
export type ProblemSubject =
  | { kind: "file" }
  | { kind: "provider"; provider: string }
  | { kind: "model"; provider: string; id?: string };

export function problemText({ file, path, message }: ModelProblem): string {
  return path === "" ? `${file}: ${message}` : `${file}: ${path}: ${message}`;
}
