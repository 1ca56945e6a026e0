// Another program's change to one path of a change set: what it does, when, and whether it is still there afterwards. To a
// directory it adds a file.

import { decodeRecords, stateOf } from "../records.js";
import { directories, pick, type Scene, type Shape, txid } from "./scene.test-kit.js";
import type { Call, Found, SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

const deeds = ["in place", "new file", "like ours", "removed", "mode"] as const;
type Deed = (typeof deeds)[number] | "entry" | "directory mode";

export class ForeignDeed {
  readonly path: string;
  readonly #deed: Deed;
  /** The directory that an entry is put into. */
  readonly #directory: string;
  readonly #old: Shape | undefined;
  readonly #isRemoved: boolean;
  readonly #fresh: string | undefined;
  readonly aliases: readonly string[];
  readonly #isFleeting: boolean;
  readonly #isNew: boolean;
  readonly #hasNoLinks: boolean;
  #isSeen = false;
  #hasDirectory = false;
  #isBegun = false;
  #found: Found | undefined;
  isDone = false;
  isInWindow = false;
  isTakenBack = false;
  /** Came when the file was new already, for good. */
  isAfterOurs = false;
  /** Came while the old file was there, and put other bytes in its place: then nothing can be applied. */
  isBeforeOurs = false;

  constructor({ ops, before, after, kind }: Scene, random: Random) {
    const op = pick(random, ops);
    const paths = op.kind === "rename" ? [op.path, op.to] : [op.path];
    const [was, is] = [before.get(op.path), after.get(op.path)];
    const isOfDirectory = [was, is].some((shape) => shape?.type === "directory");
    this.#directory = op.path;
    this.#isRemoved = was?.type === "directory" && is?.type !== "directory";
    const path = pick(random, paths);
    this.#old = before.get(path);
    this.aliases = paths;
    this.#isFleeting = op.kind !== "modify" || was?.type !== is?.type;
    this.#isNew = op.kind === "create" || path !== op.path;
    this.#hasNoLinks = kind.hasNoLinks ?? false;
    this.#deed = isOfDirectory ? pick(random, ["entry", "directory mode"] as const) : pick(random, deeds);
    this.path = this.#deed === "entry" ? `${path}/foreign` : path;
    const spellings = kind.foldsCase ? paths.filter((other) => isSpelling(other, path)) : [path];
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
      if (name === "append" && !this.isDone) this.#isBegun = true;
      return;
    }
    // The deed comes after our look and right before we change that very name. A name that is linked has no such moment.
    const isClosed = this.#isNew && name === "rename" && !this.#hasNoLinks;
    this.isInWindow =
      ["rename", "unlink", "chmodDirectory", "rmdir"].includes(name) && this.aliases.includes(path) && !isClosed;
    this.do(disk);
  }

  /** `isCarriedOut`: every rename was done when the process died. */
  do(disk: SimDisk, { isCarriedOut = false } = {}): void {
    if (this.isDone) return;
    this.isDone = true;
    const there = disk.at(this.path);
    this.#found = there;
    if (isBlocked(disk, this.#directory) || (this.#deed === "mode" && there?.type === "symlink")) {
      this.isTakenBack = true; // nothing can be done below what is no directory, and links have no mode
      return;
    }
    if (this.#deed === "entry" || this.#deed === "directory mode") return this.#doToDirectory(disk);
    const isOldThere = there !== undefined && there.text === this.#old?.text && there.type === this.#old.type;
    this.isBeforeOurs = ["in place", "new file"].includes(this.#deed) && isOldThere;
    this.isAfterOurs =
      there !== undefined && there.text === this.#fresh && (isCarriedOut || !isStaged(disk, this.path));
    if (this.#deed === "new file" || !there) disk.write(this.path, this.#text, { mode: 0o640, uid: 3 });
    else if (this.#deed === "like ours") disk.write(this.path, this.#text, { mode: 0o640, uid: 3 });
    else if (this.#deed === "in place" && !there.type) disk.overwrite(this.path, "foreign");
    else if (this.#deed === "in place") disk.write(this.path, "foreign", { mode: 0o640, uid: 3 });
    else if (this.#deed === "removed") disk.remove(this.path);
    else disk.chmod(this.path, 0o640);
  }

  /** Only while there is one. */
  #doToDirectory(disk: SimDisk): void {
    this.#hasDirectory = disk.at(this.#directory)?.type === "directory";
    if (!this.#hasDirectory) return;
    if (this.#deed === "directory mode") return disk.chmod(this.#directory, 0o750);
    disk.write(this.path, "foreign", { mode: 0o640, uid: 3 });
    this.isBeforeOurs = this.#isRemoved;
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
    if (this.#deed === "entry") return !this.#hasDirectory || found?.text === "foreign";
    // Before the journal begins it may be the mode that we found.
    if (this.#deed === "directory mode") return !this.#hasDirectory || !this.#isBegun || !found || found.mode === 0o750;
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

function isBlocked(disk: SimDisk, path: string): boolean {
  for (let at = path.replace(/\/[^/]+$/, ""); at !== ""; at = at.replace(/\/[^/]+$/, "")) {
    const found = disk.at(at);
    if (found) return found.type !== "directory";
  }
  return false;
}

function isSpelling(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function isStaged(disk: SimDisk, path: string): boolean {
  const name = path.replace(/^.*\/([^/]+)$/, "/.$1.").toLowerCase(); // beside it, or in a directory above
  return [...disk.tree().keys()].some((other) => other.toLowerCase().includes(name) && /\.new\/?$/.test(other));
}

function isEnded({ text }: Found): boolean {
  const { records } = decodeRecords(Buffer.from(text, "latin1"));
  return stateOf(records)?.phase === "ended";
}
