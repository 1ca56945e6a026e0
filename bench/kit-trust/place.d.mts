export interface Place {
  base: string;
  home: string;
  /** A repository below home. */
  repo: string;
  /** By path below `base`. A text of `-> x` makes a link to x, one that begins with `#!` a program. */
  write(files: Readonly<Record<string, string>>): void;
  remove(): void;
}

export function makePlace(parent?: string): Place;
