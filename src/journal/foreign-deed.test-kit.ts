// Another program's change to one file of a change set: what it does, when, and whether it is still there afterwards.

import { decodeRecords, stateOf } from "./records.js";
import { directories, pick, type Scene, txid } from "./scene.test-kit.js";
import type { Call, Found, SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

const deeds = ["in place", "new file", "like ours", "removed", "mode"] as const;

export class ForeignDeed {
  readonly path: string;
  readonly #deed: (typeof deeds)[number];
  readonly #fresh: string | undefined;
  readonly aliases: readonly string[];
  readonly #isFleeting: boolean;
  readonly #isNew: boolean;
  readonly #hasNoLinks: boolean;
  #isSeen = false;
  #found: Found | undefined;
  isDone = false;
  isInWindow = false;
  isTakenBack = false;
  /** Came when the file was new already, for good. */
  isAfterOurs = false;
  /** Came while the old file was there, and put other bytes in its place: then nothing can be applied. */
  isBeforeOurs = false;

  constructor({ ops, after, kind }: Scene, random: Random) {
    const op = pick(random, ops);
    const paths = op.kind === "rename" ? [op.path, op.to] : [op.path];
    this.path = pick(random, paths);
    this.aliases = paths;
    this.#isFleeting = op.kind !== "modify";
    this.#isNew = op.kind === "create" || this.path !== op.path;
    this.#hasNoLinks = kind.hasNoLinks ?? false;
    this.#deed = pick(random, deeds);
    const spellings = kind.foldsCase ? paths.filter((path) => isSpelling(path, this.path)) : [this.path];
    this.#fresh = spellings.map((path) => after.get(path)?.text).find((text) => text !== undefined);
  }

  get text(): string {
    return `${this.#deed} ${this.path}`;
  }

  /** It changes a name, and not what is in a file. */
  get isOfNames(): boolean {
    return this.#deed !== "in place" && this.#deed !== "mode";
  }

  before(disk: SimDisk, { number, name, path }: Call, at: number): void {
    if (number !== at) {
      if (path === this.path && !this.isDone) this.#isSeen = true;
      return;
    }
    // The deed comes after our look and right before we change that very name. A name that is linked has no such moment.
    const isClosed = this.#isNew && name === "rename" && !this.#hasNoLinks;
    this.isInWindow = ["rename", "unlink"].includes(name) && this.aliases.includes(path) && !isClosed;
    this.do(disk);
  }

  /** `isCarriedOut`: every rename was done when the process died. */
  do(disk: SimDisk, { isCarriedOut = false } = {}): void {
    if (this.isDone) return;
    this.isDone = true;
    const there = disk.at(this.path);
    this.#found = there;
    this.isBeforeOurs = ["in place", "new file"].includes(this.#deed) && there?.text.startsWith("old") === true;
    this.isAfterOurs =
      there !== undefined && there.text === this.#fresh && (isCarriedOut || !isStaged(disk, this.path));
    if (this.#deed === "new file" || !there) disk.write(this.path, this.#text, { mode: 0o640, uid: 3 });
    else if (this.#deed === "like ours") disk.write(this.path, this.#text, { mode: 0o640, uid: 3 });
    else if (this.#deed === "in place") disk.overwrite(this.path, "foreign");
    else if (this.#deed === "removed") disk.remove(this.path);
    else disk.chmod(this.path, 0o640);
  }

  /** The other program undoes its own change while the outcome of ours is not yet decided. */
  takeBack(disk: SimDisk): void {
    if (this.isTakenBack) return;
    const journal = disk.at(`${directories.journalDir}/${txid}.gj`);
    if (!["in place", "new file"].includes(this.#deed) || !journal || isEnded(journal)) return;
    if (this.#found?.text === this.#fresh && this.#fresh !== undefined) return; // a copy of ours would be his again
    if (this.#found) disk.write(this.path, this.#found.text, this.#found);
    else if (disk.at(this.path)) disk.remove(this.path);
    this.isTakenBack = true;
    this.isBeforeOurs = this.isAfterOurs = false;
  }

  /** Whether what they did is still so. */
  isKept(disk: SimDisk): boolean {
    if (this.isTakenBack) return true;
    const found = disk.at(this.path);
    const before = this.#found;
    // Who removes what we are about to remove may find it restored; who removes what just appeared may find it again.
    if (this.#deed === "removed" && before) return this.#isFleeting || !found || found.text !== before.text;
    // Before the first look it is the mode that we found.
    if (this.#deed === "mode" && before) return !this.#isSeen || found?.mode === 0o640;
    return found?.text === this.#text;
  }

  /** The other program may write the same bytes as we do. */
  get #text(): string {
    return this.#deed === "like ours" ? (this.#fresh ?? "foreign") : "foreign";
  }
}

function isSpelling(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function isStaged(disk: SimDisk, path: string): boolean {
  const beside = path.replace(/([^/]+)$/, ".$1.").toLowerCase();
  return [...disk.tree().keys()].some((other) => other.toLowerCase().startsWith(beside) && other.endsWith(".new"));
}

function isEnded({ text }: Found): boolean {
  const { records } = decodeRecords(Buffer.from(text, "latin1"));
  return stateOf(records)?.phase === "ended";
}
