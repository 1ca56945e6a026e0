// Evaluates one module and the files it imports. Every file of its own is read, shown to the gate and run here, so that
// a second load sees what was saved in between; only packages that it depends on go to Node. TypeScript is turned into
// JavaScript by a transformer that is given.

import { dirname, extname, isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";
import { GalleyError } from "../../base/errors.js";
import { hostModuleNames, isHostModule, type VirtualModules } from "../compat/virtual-modules.js";
import { missingBuiltIn, notFound } from "./load-failure.js";
import type { FileBody, LoadMemory } from "./load-memory.js";

/** What jiti does for us. */
export interface Transformer {
  transform(source: string, filename: string, isAsync: boolean): string;
  resolve(specifier: string, from: string, isAsync: boolean): string | undefined;
  /** A file of another package, as Node would load it. */
  importPackage(path: string): Promise<unknown>;
  requirePackage(path: string): unknown;
}

export interface ModuleFiles {
  /** The current content of the file. */
  read(path: string): Buffer;
  canonical(path: string): string;
}

export interface ModuleGraphDeps {
  readonly files: ModuleFiles;
  readonly transformer: Transformer;
  readonly memory: Pick<LoadMemory, "body">;
  readonly virtual: VirtualModules;
  /** Part of what is being loaded, not a package it depends on. */
  isOwn(path: string): boolean;
  /** Throws for a file that must not run. */
  admit(path: string, content: Uint8Array): void;
  /** Told of every compilation. */
  compiling<Result>(work: () => Result): Result;
}

interface LoadedModule {
  readonly path: string;
  readonly module: { exports: unknown };
  isDone: boolean;
  done: Promise<void>;
  /** The modules it waits for: in a cycle, an import gets what is exported so far. */
  readonly waitsFor: Set<LoadedModule>;
}

/** The importing file, whether it exists or not. */
type Importer = Pick<LoadedModule, "path">;

const nodeModule = process.getBuiltinModule("node:module");

/** A keyword at the beginning of a statement, which in a bundler's output need not be at the beginning of a line. */
const modulePattern = /(?:^|[;}/])[ \t]*(?:import|export)\b|\bimport\s*\(|\bimport\.meta\b|^[ \t]*await\b|=\s*await\b/m;

export class ModuleGraph {
  readonly #deps: ModuleGraphDeps;
  readonly #modules = new Map<string, LoadedModule>();
  /** What was read, by path. */
  readonly contents = new Map<string, Buffer>();
  /** A part was left to Node, which does not tell what its files contain. */
  usesPackages = false;
  /** It may depend on more than its own files: the result can differ although they are unchanged. */
  usesSystem = false;

  constructor(deps: ModuleGraphDeps) {
    this.#deps = deps;
  }

  async load(path: string): Promise<unknown> {
    return this.#importFile(path, undefined);
  }

  async #import(specifier: string, from: LoadedModule): Promise<unknown> {
    const { virtual, transformer } = this.#deps;
    const given = isHostModule(specifier) ? await virtual.load(specifier) : this.#builtIn(specifier);
    if (given !== undefined) return given;
    const path = this.#resolve(specifier, from, true);
    if (this.#isOurs(path)) return this.#importFile(path, from);
    return transformer.importPackage(path);
  }

  #require(specifier: string, from: Importer): unknown {
    const { virtual, transformer } = this.#deps;
    const given = isHostModule(specifier) ? virtual.get(specifier) : this.#builtIn(specifier);
    if (given !== undefined) return given;
    const path = this.#resolve(specifier, from, false);
    if (this.#isOurs(path)) return this.#requireFile(path);
    return transformer.requirePackage(path);
  }

  #builtIn(specifier: string): unknown {
    const found = builtIn(specifier);
    if (found !== undefined) this.usesSystem = true;
    return found === nodeModule ? this.#moduleLibrary : found;
  }

  /** Node's own, but a `require` made with it asks the gate, like the module's own `require`. */
  readonly #moduleLibrary = new Proxy(nodeModule, {
    get: (library, name) =>
      name === "createRequire"
        ? (from: string | URL) => this.#requireFor({ path: fileOf(from) })
        : Reflect.get(library, name),
  });

  #requireFor(from: Importer): object {
    const resolve = (specifier: string) => this.#resolve(specifier, from, false);
    return Object.assign((specifier: string) => this.#require(specifier, from), { resolve, cache: {} });
  }

  #resolve(specifier: string, from: Importer, isAsync: boolean): string {
    const asked = specifier.startsWith("file:") ? fileURLToPath(specifier) : specifier;
    const found = this.#deps.transformer.resolve(asked, from.path, isAsync);
    if (found === undefined) throw notFound(specifier, from.path, hostModuleNames);
    return this.#deps.files.canonical(found);
  }

  /** False for what is left to Node, including native code in our own files. */
  #isOurs(path: string): boolean {
    const isOwn = this.#deps.isOwn(path);
    const isNative = extname(path) === ".node";
    if (isOwn && isNative) this.#admitted(path);
    if (!isOwn) this.usesPackages = true;
    return isOwn && !isNative;
  }

  async #importFile(path: string, from: LoadedModule | undefined): Promise<unknown> {
    const known = this.#modules.get(path);
    if (!known) {
      const loaded = this.#begin(path);
      loaded.done = this.#run(loaded);
      await this.#wait(loaded, from);
      return loaded.module.exports;
    }
    if (!known.isDone && !(from && waits(known, from))) await this.#wait(known, from);
    return known.module.exports;
  }

  async #wait(loaded: LoadedModule, from: LoadedModule | undefined): Promise<void> {
    from?.waitsFor.add(loaded);
    await loaded.done.finally(() => from?.waitsFor.delete(loaded));
  }

  #begin(path: string): LoadedModule {
    const loaded = {
      path,
      module: { exports: {} },
      isDone: false,
      done: Promise.resolve(),
      waitsFor: new Set<LoadedModule>(),
    };
    this.#modules.set(path, loaded);
    return loaded;
  }

  async #run(loaded: LoadedModule): Promise<void> {
    const source = this.#admitted(loaded.path);
    await this.#deps.virtual.prepare(source);
    await this.#evaluate(loaded, source, true);
    loaded.isDone = true;
  }

  #requireFile(path: string): unknown {
    const known = this.#modules.get(path);
    if (known) return known.module.exports;
    const loaded = this.#begin(path);
    try {
      const source = this.#admitted(loaded.path);
      this.#deps.virtual.note(source);
      this.#evaluate(loaded, source, false);
    } catch (error) {
      this.#modules.delete(path); // a second import, perhaps after a catch, gets the same answer
      throw error;
    }
    loaded.isDone = true;
    return loaded.module.exports;
  }

  #admitted(path: string): string {
    const { files, admit } = this.#deps;
    const content = files.read(path);
    admit(path, content);
    this.contents.set(path, content);
    return content.toString("utf8").replace(/^\ufeff/, "");
  }

  #evaluate(loaded: LoadedModule, source: string, isAsync: boolean): unknown {
    const { path, module } = loaded;
    if (extname(path) === ".json") {
      module.exports = JSON.parse(source);
      return undefined;
    }
    const make = () => this.#deps.compiling(() => this.#compile(path, source, isAsync));
    const run = this.#deps.memory.body(path, source, { isAsync, make });
    const resolveUrl = (specifier: string) => pathToFileURL(this.#resolve(specifier, loaded, true)).href;
    const importing = (specifier: string) => this.#import(specifier, loaded);
    return run.call(
      module.exports,
      module.exports,
      this.#requireFor(loaded),
      module,
      path,
      dirname(path),
      importing,
      resolveUrl,
    );
  }

  #compile(path: string, source: string, isAsync: boolean): FileBody {
    const code = this.#codeOf(path, source, isAsync);
    const keyword = isAsync ? "async function" : "function";
    const names = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";
    // On one line with the code, so that stack traces have the lines of the file.
    return runInThisContext(`(${keyword} (${names}) {${code}\n})`, { filename: path });
  }

  #codeOf(path: string, source: string, isAsync: boolean): string {
    const isScript = /\.c?js$/.test(path) && !modulePattern.test(source);
    const code = isScript ? source : this.#deps.transformer.transform(source, path, isAsync);
    const failure = /^exports\.__JITI_ERROR__ = (\{.*\})/s.exec(code)?.[1];
    if (failure !== undefined) throw syntaxError(path, JSON.parse(failure));
    return code.startsWith("#!") ? `//${code}` : code;
  }
}

function waits(one: LoadedModule, other: LoadedModule): boolean {
  return one === other || [...one.waitsFor].some((next) => waits(next, other));
}

function builtIn(specifier: string): unknown {
  if (/^bun(?::|$)/.test(specifier)) throw needsBun(specifier);
  const found = process.getBuiltinModule(specifier);
  if (found === undefined && specifier.startsWith("node:")) throw missingBuiltIn(specifier);
  return found;
}

function fileOf(location: string | URL): string {
  if (typeof location === "string" && isAbsolute(location)) return location;
  try {
    return fileURLToPath(location);
  } catch {
    throw new GalleyError("invalid_argument", `createRequire needs a file URL or an absolute path, not ${location}`);
  }
}

export function needsBun(specifier: string): GalleyError {
  return new GalleyError("unsupported", `Module "${specifier}" needs the Bun runtime`);
}

function syntaxError(path: string, { line, column, message }: { line: number; column: number; message: string }) {
  return new GalleyError("invalid_argument", `${message.trim()} (${path}:${line}:${column + 1})`);
}
