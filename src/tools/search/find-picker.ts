// Picks the files, and their directories, that a search reports.

import { isTempName } from "../../files/disk/temp-names.js";

const maxDirectories = 200_000;

export interface PickerOptions {
  readonly onlyDirectories: boolean;
  readonly limit: number;
}

/** Takes files one by one and picks them, and the directories they are the first to show, by the glob. */
export class PathPicker {
  readonly picked: string[] = [];
  readonly #seen = new Set<string>([""]);
  readonly #matches: (path: string) => boolean;
  readonly #options: PickerOptions;

  constructor(matches: (path: string) => boolean, options: PickerOptions) {
    this.#matches = matches;
    this.#options = options;
  }

  get isOverfull(): boolean {
    return this.#seen.size > maxDirectories;
  }

  /** `false`: there is enough. */
  add(file: string): boolean {
    const slash = file.lastIndexOf("/");
    if (slash !== -1) this.#addDirectories(file.slice(0, slash));
    if (!this.#options.onlyDirectories && this.#matches(file) && !isTempName(file.slice(slash + 1)))
      this.picked.push(file);
    return this.picked.length < this.#options.limit && !this.isOverfull;
  }

  /** From the outermost; one that is known has all of its parents known. */
  #addDirectories(directory: string): void {
    if (this.#seen.has(directory)) return;
    const fresh: string[] = [];
    for (let path = directory; !this.#seen.has(path); path = parentOf(path)) fresh.push(path);
    for (const path of fresh.reverse()) {
      this.#seen.add(path);
      if (this.#matches(path)) this.picked.push(`${path}/`);
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}
