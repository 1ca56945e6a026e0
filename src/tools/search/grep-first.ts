// The first matches in the order of their paths, in whatever order files are searched. Other matches are dropped at once,
// so a search of any size needs only a few megabytes.

const maxFileBytes = 2 * 1024 * 1024;
const maxBytes = 16 * 1024 * 1024;

export interface GrepLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** The text goes on. */
  readonly isCut: boolean;
}

export interface FileMatches {
  readonly path: string;
  readonly shownPath: string;
  readonly lines: GrepLine[];
  matchCount: number;
  sizeBytes: number;
}

export class FirstMatches {
  readonly #wanted: number;
  readonly #refused: ReadonlySet<string>;
  readonly #paths = new Set<string>();
  #files: FileMatches[] = [];
  #matchCount = 0;
  #sizeBytes = 0;
  /** From here on nothing is wanted. */
  #ceiling: string | undefined;
  #hasMore = false;

  /** Nothing is kept of the files in `refused`. */
  constructor(wanted: number, refused: ReadonlySet<string>) {
    this.#wanted = wanted;
    this.#refused = refused;
  }

  /** Something was found that is not in `files`, or was not looked for. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** The last file that is needed for the wanted number of matches, as far as files have come; undefined for too few. */
  lastNeeded(): string | undefined {
    if (this.#matchCount < this.#wanted) return undefined;
    this.#trim();
    return this.#files.at(-1)?.path;
  }

  stop(): void {
    this.#hasMore = true;
  }

  /** Sorted by path: at least the wanted number of matches, or all there are. */
  files(): readonly FileMatches[] {
    this.#trim();
    return this.#files;
  }

  /** `false` for a file that cannot be among the first, or was there already. */
  wants(path: string): boolean {
    if (this.#refused.has(path) || this.#paths.has(path)) return false;
    if (this.#ceiling === undefined || path < this.#ceiling) return true;
    this.#hasMore = true;
    return false;
  }

  /** Where the lines of a wanted file go. */
  open(path: string, shownPath: string): FileMatches {
    return { path, shownPath, lines: [], matchCount: 0, sizeBytes: 0 };
  }

  addLine(file: FileMatches, line: GrepLine): void {
    if (file.sizeBytes > maxFileBytes) {
      this.#hasMore ||= line.isMatch;
      return;
    }
    file.lines.push(line);
    file.sizeBytes += 2 * line.text.length + 50;
    if (line.isMatch) file.matchCount++;
  }

  close(file: FileMatches): void {
    if (file.matchCount === 0) return;
    this.#files.push(file);
    this.#paths.add(file.path);
    this.#matchCount += file.matchCount;
    this.#sizeBytes += file.sizeBytes;
    // Not every time: sorting is expensive.
    if (this.#matchCount >= 3 * this.#wanted || this.#sizeBytes > maxBytes) this.#trim();
  }

  /** Whether a file stays depends only on those before it, so the order of arrival does not matter. */
  #trim(): void {
    this.#files.sort((a, b) => (a.path < b.path ? -1 : 1));
    let matches = 0;
    let bytes = 0;
    const end = this.#files.findIndex(({ matchCount, sizeBytes }) => {
      if (matches >= this.#wanted || (matches > 0 && bytes + sizeBytes > maxBytes)) return true;
      matches += matchCount;
      bytes += sizeBytes;
      return false;
    });
    if (end === -1) return;
    this.#ceiling = this.#files[end]?.path;
    this.#hasMore = true;
    this.#matchCount = matches;
    this.#sizeBytes = bytes;
    for (const { path } of this.#files.splice(end)) this.#paths.delete(path);
  }
}
