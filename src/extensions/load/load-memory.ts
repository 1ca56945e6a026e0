// What one load of modules leaves for the next one in the same session, so that a reload costs only what was changed.
// An unchanged file is not compiled again; a tool that can depend on nothing but unchanged files is kept as it is.

import type { CustomToolAPI } from "../api/custom-tool.js";
import type { VirtualModules } from "../compat/virtual-modules.js";
import type { FoundTool } from "./load-factory.js";

/** A file's text as a function, which each evaluation calls again. */
export type FileBody = (...args: unknown[]) => unknown;

/** What all tools of a session share. */
export interface SharedApi {
  readonly virtual: VirtualModules;
  readonly api: CustomToolAPI;
  /** For the project's own tools. */
  readonly projectApi: CustomToolAPI;
}

interface KeptTools {
  /** Everything they were made of, by path. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly found: readonly FoundTool[];
}

export class LoadMemory {
  readonly #bodies = new Map<string, { readonly source: string; readonly body: FileBody }>();
  readonly #tools = new Map<string, KeptTools>();
  #shared: SharedApi | undefined;

  shared(make: () => SharedApi): SharedApi {
    this.#shared ??= make();
    return this.#shared;
  }

  body(path: string, source: string, { isAsync, make }: { isAsync: boolean; make(): FileBody }): FileBody {
    const key = `${isAsync} ${path}`;
    const known = this.#bodies.get(key);
    if (known?.source === source) return known.body;
    const body = make();
    this.#bodies.set(key, { source, body });
    return body;
  }

  /** `path` is that of the module. One that listens to the session has to start again with it, and so is not kept. */
  keep(path: string, tools: KeptTools): void {
    if (tools.found.every(({ tool }) => tool.onSession === undefined)) this.#tools.set(path, tools);
    else this.#tools.delete(path);
  }

  /** `isSame` says whether a file may still run and is unchanged. */
  recall(path: string, isSame: (path: string, content: Buffer) => boolean): readonly FoundTool[] | undefined {
    const kept = this.#tools.get(path);
    const holds = kept && [...kept.files].every(([file, content]) => isSame(file, content));
    if (kept && !holds) this.#tools.delete(path);
    return holds ? kept.found : undefined;
  }
}
