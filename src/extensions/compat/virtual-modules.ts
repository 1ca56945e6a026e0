// The modules that galley itself serves to tools, whatever is in their node_modules: the host's own exports under
// every name that published tools use, the components, and the schema libraries. Each is one instance, made when it is
// first needed.

import { GalleyError } from "../../base/errors.js";
import type { ToolLogger } from "../api/custom-tool.js";
import { defineCustomTool, defineTool } from "../api/custom-tool.js";
import { runAsHost } from "../load/load-guard.js";
import type { PiModule } from "./stand-ins.js";

const scopes = ["mariozechner", "earendil-works", "oh-my-pi", "f5-sales-demo", "f5xc-salesdemos"];
const hostNames = [
  "galley",
  ...scopes.flatMap((scope) => [`@${scope}/pi-coding-agent`, `@${scope}/pi-coding-agent/hooks`, `@${scope}/xcsh`]),
];

const libraryNames = [
  "@sinclair/typebox",
  "@sinclair/typebox/compiler",
  "@sinclair/typebox/value",
  "typebox",
  "typebox/compile",
  "typebox/value",
  "zod",
] as const;
type LibraryName = (typeof libraryNames)[number];
type ModuleName = "galley" | "tui" | "ai" | "core" | LibraryName;
type Exports = Readonly<Record<string, unknown>>;

/** What a layer above offers: the SDK's exports, and the functions that ask a model. */
export interface HostModules {
  galley?(): Promise<object>;
  ai?(): Promise<object>;
  /** What runs a model with tools. */
  core?(): Promise<object>;
  /** The themes of a terminal, in place of the plain ones. */
  tui?: (() => Promise<object>) | undefined;
}

const moduleOf = new Map<string, ModuleName>([
  ...hostNames.map((name) => [name, "galley"] as const),
  ...inScopes("pi-tui", "tui"),
  ...["", "/compat", "/oauth", "/providers/all"].flatMap((part) => inScopes(`pi-ai${part}`, "ai")),
  ...inScopes("pi-agent-core", "core"),
  ...inScopes("pi-utils", "core"),
  ...libraryNames.map((name) => [name, name] as const),
  // The compiler is called so in one of the two packages; modules are not always sure in which.
  ["@sinclair/typebox/compile", "@sinclair/typebox/compiler"],
  ["typebox/compiler", "typebox/compile"],
  ["zod/v4", "zod"],
]);

export const hostModuleNames: readonly string[] = [...moduleOf.keys()];

/** Served by us, whatever a project has under that name. */
export function isHostModule(specifier: string): boolean {
  return moduleOf.has(specifier);
}

/** Which library a source text is going to need: by an import, or as a member of the API. */
const mentions: [LibraryName, RegExp][] = [
  ["@sinclair/typebox", /@sinclair\/typebox|(?<!["'])\btypebox\b/],
  ["typebox", /["']typebox["']/],
  ["@sinclair/typebox/compiler", /@sinclair\/typebox\/compile/],
  ["@sinclair/typebox/value", /@sinclair\/typebox\/value/],
  ["typebox/compile", /["']typebox\/compile/],
  ["typebox/value", /["']typebox\/value["']/],
  ["zod", /\bzod\b/],
];

export class VirtualModules {
  readonly #host: HostModules;
  readonly #logger: ToolLogger;
  readonly #loading = new Map<ModuleName, Promise<Exports>>();
  readonly #loaded = new Map<ModuleName, Exports>();
  readonly #wanted = new Set<LibraryName>();

  constructor(host: HostModules, logger: ToolLogger) {
    this.#host = host;
    this.#logger = logger;
  }

  load(specifier: string): Promise<Exports> {
    return this.#load(moduleOf.get(specifier) as ModuleName);
  }

  /** For synchronous callers. Throws for a module that was not requested before. */
  get(specifier: string): Exports {
    const found = this.find(specifier);
    if (found) return found;
    throw new GalleyError("unsupported", `"${specifier}" is not loaded yet. Import it in the main file of the tool.`);
  }

  find(specifier: string): Exports | undefined {
    return this.#loaded.get(moduleOf.get(specifier) as ModuleName);
  }

  /** Remembers what a file will need. */
  note(source: string): void {
    for (const [name, pattern] of mentions) if (pattern.test(source)) this.#wanted.add(name);
  }

  /** The host's exports, and everything requested so far: a file may use it without waiting. */
  async prepare(source = ""): Promise<void> {
    this.note(source);
    await Promise.all(["galley" as const, ...this.#wanted].map((name) => this.#load(name)));
  }

  /** A caller whose source text we did not see may use everything that the API has. */
  async prepareApi(): Promise<void> {
    for (const name of ["@sinclair/typebox", "zod"] as const) this.#wanted.add(name);
    await this.prepare();
  }

  /** For code that jiti evaluates. It waits for a promise where it can. */
  get table(): Record<string, unknown> {
    const table = {};
    for (const [specifier, name] of moduleOf)
      Object.defineProperty(table, specifier, {
        enumerable: true,
        get: () => this.#loaded.get(name) ?? this.#load(name),
      });
    return table;
  }

  #load(name: ModuleName): Promise<Exports> {
    const known = this.#loading.get(name);
    if (known) return known;
    const loading = runAsHost(() => this.#make(name)).then((exports) => {
      this.#loaded.set(name, exports);
      return exports;
    });
    this.#loading.set(name, loading);
    return loading;
  }

  async #make(name: ModuleName): Promise<Exports> {
    switch (name) {
      case "galley":
        return asPiModule(
          "pi-coding-agent",
          (await import("./components.js")).componentLibrary(),
          await this.#host.tui?.(),
          { defineCustomTool, defineTool },
          await this.#host.galley?.(),
        );
      case "tui":
        return asPiModule("pi-tui", (await import("./components.js")).componentLibrary(), await this.#host.tui?.());
      case "ai": {
        const { Type } = await library("@sinclair/typebox");
        return asPiModule("pi-ai", { StringEnum, Type }, await this.#host.ai?.());
      }
      case "core":
        return asPiModule(
          "pi-agent-core",
          await namesOf("pi-agent-core", await this.#host.galley?.()),
          await import("./module-texts.js"),
          { logger: this.#logger },
          await this.#host.core?.(),
        );
      default:
        return library(name);
    }
  }
}

const libraries = new Map<LibraryName, Promise<Exports>>();

/** One instance for all sessions of the process: a schema made by one tool means the same to another. */
function library(name: LibraryName): Promise<Exports> {
  const known = libraries.get(name) ?? importLibrary(name);
  libraries.set(name, known);
  return known;
}

async function importLibrary(name: LibraryName): Promise<Exports> {
  switch (name) {
    case "@sinclair/typebox":
      return asModule(await import("@sinclair/typebox"));
    case "@sinclair/typebox/compiler":
      return asModule(await import("@sinclair/typebox/compiler"));
    case "@sinclair/typebox/value":
      return asModule(await import("@sinclair/typebox/value"));
    case "typebox":
      return asModule(await import("typebox"));
    case "typebox/compile":
      return asModule(await import("typebox/compile"));
    case "typebox/value":
      return asModule(await import("typebox/value"));
    case "zod":
      return asModule(withEitherRecord(await import("zod")));
  }
}

/** zod 3 took the value's schema alone; tools written for it still do. */
function withEitherRecord(zod: typeof import("zod")): object {
  const record = (...args: unknown[]) => {
    const [key, value] = args.length === 1 ? [zod.string(), args[0]] : args;
    return zod.record(key as never, value as never);
  };
  const whole: Record<string, unknown> = { ...zod, record };
  whole.z = whole;
  whole.default = whole;
  return whole;
}

/** What pi exports there, of all that there is. */
async function namesOf(module: PiModule, exports: object = {}): Promise<object> {
  const { hasName } = await import("./stand-ins.js");
  return Object.fromEntries(Object.entries(exports).filter(([name]) => hasName(module, name)));
}

/** With a stand-in for each name that pi exports there and we do not have. */
async function asPiModule(name: PiModule, ...parts: (object | undefined)[]): Promise<Exports> {
  const { standInsFor } = await import("./stand-ins.js");
  const real = Object.assign({}, ...parts);
  return asModule(standInsFor(name, real), real);
}

/** A plain object instead of a namespace, marked the way compiled code looks for. */
function asModule(...parts: (object | undefined)[]): Exports {
  const exports = Object.assign({}, ...parts);
  return Object.freeze(Object.defineProperty(exports, "__esModule", { value: true }));
}

/** Models understand a list of strings better than a union of constants. */
function StringEnum(values: readonly string[], options: object = {}): object {
  return { type: "string", enum: [...values], ...options };
}

function inScopes(packageName: string, module: ModuleName): [string, ModuleName][] {
  return scopes.map((scope) => [`@${scope}/${packageName}`, module]);
}
