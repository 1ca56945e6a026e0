// The names of session files and their directories. Pure: callers pass canonical paths.

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { sha256Of } from "../base/digest.js";

export interface WorkingPlace {
  /** The canonical working directory. */
  readonly cwd: string;
  readonly home: string;
  readonly temp: string;
}

/** The name that hosts of pi compute; undefined where a file system would not take it. Several directories may share it. */
export function plainDirectoryName({ cwd }: WorkingPlace): string | undefined {
  const name = absoluteName(cwd);
  return fileName(name) === name ? name : undefined;
}

/** Readable, with a hash that keeps directories apart whose readable parts are the same. */
export function sessionDirectoryName(place: WorkingPlace): string {
  return `${fileName(readableName(place))}-${sha256Of(place.cwd).slice(0, 8)}`;
}

/** Names that other programs use for the sessions of this directory. Several directories may share one. */
export function legacyDirectoryNames(place: WorkingPlace): string[] {
  return [...new Set([readableName(place), absoluteName(place.cwd)])];
}

/** How the names of all directories begin that hold sessions of this directory or of one below it; others may, too. */
export function directoryNameBeginnings(place: WorkingPlace): string[] {
  return [...new Set([fileName(readableName(place)), absoluteName(place.cwd)])].map((name) => name.replace(/--$/, ""));
}

/** Sorts by time. */
export function sessionFileName(now: number, sessionId: string): string {
  return `${new Date(now).toISOString().replace(/[:.]/g, "-")}_${sessionId}.jsonl`;
}

/** Where a session keeps its artifacts: beside the file, under the same name. */
export function artifactDirectory(sessionFile: string): string {
  return sessionFile.endsWith(".jsonl") ? sessionFile.slice(0, -".jsonl".length) : `${sessionFile}.artifacts`;
}

/** The directories of the agent directory that hold sessions and what belongs to them. */
export function agentPlaces(agentDir: string): { sessions: string; blobs: string; terminals: string } {
  return {
    sessions: join(agentDir, "sessions"),
    blobs: join(agentDir, "blobs"),
    terminals: join(agentDir, "terminal-sessions"),
  };
}

/** True for the directory itself and for everything below it. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(resolve(directory), resolve(path));
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function readableName({ cwd, home, temp }: WorkingPlace): string {
  if (isInside(home, cwd)) return `-${dashed(relative(home, cwd))}`;
  if (isInside(temp, cwd)) return `-tmp-${dashed(relative(temp, cwd))}`;
  return absoluteName(cwd);
}

function absoluteName(cwd: string): string {
  return `--${dashed(cwd.replace(/^[/\\]/, ""))}--`;
}

function dashed(path: string): string {
  return path.replace(/[/\\:]/g, "-");
}

const maxNameBytes = 200;

/** Printable, and short enough: a file system allows 255 bytes. The hash keeps cut ones apart. */
function fileName(text: string): string {
  let name = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxNameBytes) break;
    name += character < " " || character === "\u007f" ? "-" : character;
  }
  return name;
}
