// What discovery looks for, and the one list of what it found.

import { basename, dirname } from "node:path";
import { type Looked, lookAt } from "../../files/module-files.js";

export type ModuleKind = "tool" | "extension" | "hook" | "command";

export interface ModuleSource {
  readonly provider: string;
  readonly providerName: string;
  readonly level: "user" | "project";
}

export interface FoundModule {
  readonly kind: ModuleKind;
  readonly path: string;
  readonly realPath: string;
  /** The file's name without its ending, or the directory's. */
  readonly name: string;
  /** Of those with the same key only the first counts. Explicit paths and plugins have none. */
  readonly key?: string;
  readonly source: ModuleSource;
  /** It comes with the project, so it runs only if the project is trusted. */
  readonly needsTrust: boolean;
  /** A program to start, not a module to load. */
  readonly isScript?: true;
}

/** A tool that is described but not programmed. */
export interface ToolMetadata extends Pick<FoundModule, "path" | "name" | "source"> {
  readonly description: string;
}

export interface DiscoveryProblem {
  readonly path: string;
  readonly error: string;
  readonly source: ModuleSource;
  /** The user named it as an extension: it may be there to refuse calls. */
  readonly isGuard?: true;
}

export interface Discovery {
  /** In order, with all duplicates: see `chooseModules`. */
  readonly modules: readonly FoundModule[];
  readonly metadata: readonly ToolMetadata[];
  /** Scripts in tool directories: listed, never run. */
  readonly scripts: readonly string[];
  readonly problems: readonly DiscoveryProblem[];
}

/** For one location. A hostile directory can be made to look endless; no real one comes near this. */
const maxLooks = 5000;

/** Collects what is found on the way. */
export class Findings implements Discovery {
  readonly modules: FoundModule[] = [];
  readonly metadata: ToolMetadata[] = [];
  readonly scripts: string[] = [];
  readonly problems: DiscoveryProblem[] = [];
  readonly #troubled = new Set<string>();
  #looks = 0;

  /** A location that uses up its limit does not affect the next one. */
  startLocation(): void {
    this.#looks = 0;
  }

  /** Nothing more is found in this location. */
  get isExhausted(): boolean {
    return this.#looks > maxLooks;
  }

  look(path: string): Looked {
    this.#looks++;
    return this.isExhausted ? { kind: "missing" } : lookAt(path);
  }

  /** A file that could be loaded; anything but a regular file becomes a problem. */
  add(path: string, as: Omit<FoundModule, "path" | "realPath" | "name">): void {
    const looked = this.look(path);
    if (looked.kind === "file") this.modules.push({ ...as, path, realPath: looked.realPath, name: moduleName(path) });
    else if (looked.kind === "unfit") this.addProblem({ path, error: looked.problem, source: as.source });
  }

  /** Each fault of a file is reported once. */
  addProblem(problem: DiscoveryProblem): void {
    const fault = JSON.stringify([problem.path, problem.error]);
    if (this.#troubled.has(fault)) return;
    this.#troubled.add(fault);
    this.problems.push(problem);
  }
}

export function moduleName(path: string): string {
  const name = basename(path).replace(/\.[^.]+$/, "");
  return name === "index" ? basename(dirname(path)) : name;
}
