// Where the sessions of one working directory and of the project around it are kept, with their artifacts and images.

import { basename, join, resolve } from "node:path";
import { homedir, tmpdir } from "../../base/home.js";
import type { Log } from "../../base/log.js";
import type { TextMask } from "../../base/text-mask.js";
import { findProject } from "../../files/paths/find-roots.js";
import {
  agentPlaces,
  artifactDirectory,
  directoryNameBeginnings,
  isInside,
  legacyDirectoryNames,
  plainDirectoryName,
  sessionDirectoryName,
  sessionFileName,
  type WorkingPlace,
} from "../session-paths.js";
import { type ArtifactStore, createDiskArtifacts } from "./artifacts.js";
import { type BlobStore, createDiskBlobs } from "./blobs.js";
import { ensureDirectory, realPath } from "./session-disk.js";
import {
  directoriesIn,
  type FoundSession,
  type SessionIndex,
  type SessionInfo,
  sessionDirectories,
} from "./session-index.js";

/** Programs whose sessions are read like our own. */
const otherPrograms = [".xcsh", ".omp", ".pi"];

export interface PlaceOptions {
  readonly cwd: string;
  readonly agentDir: string;
  /** Where new files go; without it a directory below the agent directory, by working directory. */
  readonly directory?: string | undefined;
  readonly home?: string;
  readonly temp?: string;
  /** What no line and no artifact of a session may hold. */
  readonly mask?: TextMask | undefined;
}

export class SessionDirectories {
  readonly terminals: string;
  readonly #place: WorkingPlace;
  readonly #sessions: string;
  readonly #blobs: string;
  readonly #chosen: string | undefined;
  #own: string | undefined;
  readonly #log: Log;
  readonly #mask: TextMask | undefined;
  /** Whether a directory is in the project, by its path as a header tells it. */
  readonly #isInProject = new Map<string, boolean>();
  #root: string | undefined;

  constructor({ cwd, agentDir, directory, home = homedir(), temp = tmpdir(), mask }: PlaceOptions, log: Log) {
    this.#mask = mask;
    const { sessions, blobs, terminals } = agentPlaces(canonical(agentDir));
    this.#place = { cwd: canonical(cwd), home: canonical(home), temp: canonical(temp) };
    this.#sessions = sessions;
    this.#blobs = blobs;
    this.#log = log;
    this.terminals = terminals;
    this.#chosen = directory === undefined ? undefined : canonical(directory);
  }

  /** Where new files go. */
  get directory(): string {
    this.#own ??= this.#chosen ?? this.#ownDirectory();
    return this.#own;
  }

  /** Of this working directory alone: under the name that hosts expect, unless another one has its sessions there. */
  #ownDirectory(): string {
    const plain = plainDirectoryName(this.#place);
    const path = plain === undefined ? undefined : join(this.#sessions, plain);
    return path !== undefined && directoriesIn(path).every((cwd) => this.isHere(cwd)) ? path : this.#hashed;
  }

  get #hashed(): string {
    return join(this.#sessions, sessionDirectoryName(this.#place));
  }

  /** Where the sessions of this working directory are continued, among those of others. */
  get searched(): readonly string[] {
    return this.#chosen === undefined ? this.#usual() : [this.#chosen];
  }

  // These two are functions, since a start does not need them: only a search for sessions does.

  /** Where else they may lie. */
  #usual(): string[] {
    const names = legacyDirectoryNames(this.#place).map((name) => join(this.#sessions, name));
    return [...new Set([this.#hashed, ...names])];
  }

  #otherPrograms(): { sessions: string; blobs: string }[] {
    return otherPrograms.map((name) => agentPlaces(join(this.#place.home, name, "agent")));
  }

  newPath(now: number, sessionId: string): string {
    return join(this.directory, sessionFileName(now, sessionId));
  }

  /** Whether this path, as a header or a breadcrumb tells it, is the working directory. */
  isHere(cwd: string): boolean {
    const here = this.#place.cwd;
    return cwd === here || (cwd !== "" && canonical(cwd) === here);
  }

  /** Whether a session of this working directory belongs to the project: not if it is in a project of its own below. */
  isInProject(cwd: string): boolean {
    if (this.isHere(cwd)) return true;
    const known = this.#isInProject.get(cwd);
    if (known !== undefined) return known;
    const isInside = cwd !== "" && this.#projectOf(canonical(cwd)) === this.#projectRoot();
    this.#isInProject.set(cwd, isInside);
    return isInside;
  }

  #projectOf(cwd: string): string {
    return findProject({ cwd, home: this.#place.home }).writableRoot;
  }

  /** A function, since a start does not need it. */
  #projectRoot(): string {
    this.#root ??= this.#projectOf(this.#place.cwd);
    return this.#root;
  }

  /** The sessions of the project that new ones would join, newest first. */
  async list(index: SessionIndex): Promise<SessionInfo[]> {
    const below = this.#chosen !== undefined ? [] : await this.#projectDirectories(this.#sessions);
    return (await index.list([...this.searched, ...below])).filter(({ cwd }) => this.isInProject(cwd));
  }

  /** All of the project, also where no new ones go and where other programs keep theirs. */
  async listProject(index: SessionIndex): Promise<SessionInfo[]> {
    const roots = [this.#sessions, ...this.#otherPrograms().map(({ sessions }) => sessions)];
    const others = await Promise.all(roots.map((root) => this.#projectDirectories(root).catch(() => [])));
    const found = await index.list(this.searched, [...this.#usual(), ...others.flat()]);
    return found.filter(({ cwd }) => this.isInProject(cwd));
  }

  /** Sessions are stored by working directory: each directory of the project has one of its own. */
  async #projectDirectories(root: string): Promise<string[]> {
    const beginnings = directoryNameBeginnings({ ...this.#place, cwd: this.#projectRoot() });
    const all = await sessionDirectories(root);
    return all.filter((path) => path !== root && beginnings.some((text) => basename(path).startsWith(text)));
  }

  /** All of this working directory, also where no new ones go and where other programs keep theirs. */
  async listHere(index: SessionIndex): Promise<SessionInfo[]> {
    const names = legacyDirectoryNames(this.#place);
    const elsewhere = this.#otherPrograms().flatMap(({ sessions }) => names.map((name) => join(sessions, name)));
    const found = await index.list(this.searched, [...this.#usual(), ...elsewhere]);
    return found.filter(({ cwd }) => this.isHere(cwd));
  }

  /** Those of all working directories. */
  listAll(index: SessionIndex): Promise<SessionInfo[]> {
    const own = this.#chosen ?? this.#sessions;
    return index.listAll([own], [this.#sessions, ...this.#otherPrograms().map(({ sessions }) => sessions)]);
  }

  /** By id, by the beginning of an id, or by file name; in the project first. Throws `not_found`, or if several match. */
  async find(index: SessionIndex, query: string): Promise<FoundSession> {
    const { session } = await index.find(query, await this.listProject(index), () => this.listAll(index));
    return { session, isElsewhere: !this.isInProject(session.cwd) };
  }

  /** Our own directories are closed to other users; a directory that the user chose keeps its mode. */
  readonly ensureDirectory = (path: string): void => {
    ensureDirectory(path, [this.#sessions, this.#blobs, this.terminals], (text) => this.#log.warn(text));
  };

  artifacts(sessionFile: string): ArtifactStore {
    return createDiskArtifacts({
      directory: artifactDirectory(sessionFile),
      ensureDirectory: this.ensureDirectory,
      mask: this.#mask,
    });
  }

  blobs(sessionFile: string): BlobStore {
    const directory = this.blobDirectory(sessionFile);
    return createDiskBlobs({
      directory,
      alsoIn: [this.#blobs, ...this.#otherPrograms().map(({ blobs }) => blobs)],
      ensureDirectory: this.ensureDirectory,
    });
  }

  /** A file elsewhere keeps its images beside it: garbage collection here would not see that it names them. */
  blobDirectory(sessionFile: string): string {
    return isInside(this.#sessions, sessionFile) ? this.#blobs : join(artifactDirectory(sessionFile), "blobs");
  }
}

/** The real path, or the resolved one where the path may not be searched. */
export function canonical(path: string): string {
  try {
    return realPath(resolve(path));
  } catch {
    return resolve(path);
  }
}
