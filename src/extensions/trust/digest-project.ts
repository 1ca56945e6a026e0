// What a project would run or decide, item by item: a digest of each with everything it loads, and one over all of
// them. The user trusts these digests; a change makes another one of every item that it reaches, and of no other.

import { relative, sep } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import type { McpServer } from "../discover/find-mcp-servers.js";
import type { FoundModule } from "../discover/findings.js";
import {
  type DigestedFile,
  type DigestedFiles,
  digestFiles,
  type FileLimits,
  reachableFrom,
  realPathOf,
} from "./digest-files.js";

export type TrustItemKind =
  | "tool"
  | "command"
  | "extension"
  | "hook"
  | "mcp"
  | "setting"
  | "prompt"
  | "skill"
  | "rule"
  | "file"
  | "package";

/** One thing that would run, be loaded or decide something. */
export interface TrustItem {
  readonly kind: TrustItemKind;
  /** The path relative to the project's root; for an entry in a file, `path#name`. */
  readonly name: string;
  readonly hash: string;
  /** Of it and of everything it loads: what the user trusts. Not for what only others load. */
  readonly digest?: string;
  /** The names of the files and manifests that it loads. */
  readonly loads?: readonly string[];
  /** Where a link leads, when it leads elsewhere. */
  readonly target?: string;
  /** The whole command. */
  readonly argv?: readonly string[];
  /** What the rest of an entry says: environment, address, a setting's value. */
  readonly value?: unknown;
  /** Why it cannot be checked, as the end of a sentence; it is not loaded then. */
  readonly problem?: string;
  readonly computedLines?: readonly number[];
}

/** A setting of the project's file that only a trusted project may make. */
export interface PolicySetting {
  readonly file: string;
  readonly key: string;
  readonly value: unknown;
}

/** A text of the project that speaks to the model with more weight than a file it reads. */
export interface PolicyText {
  readonly kind: "prompt" | "skill" | "rule";
  readonly path: string;
}

export interface DigestProjectOptions extends FileLimits {
  /** The canonical path. */
  readonly root: string;
  /** Those that need no trust are skipped. */
  readonly modules: readonly FoundModule[];
  readonly mcpServers?: readonly McpServer[];
  readonly settings?: readonly PolicySetting[];
  readonly texts?: readonly PolicyText[];
}

export interface ProjectDigest {
  readonly root: string;
  readonly digest: string;
  /** What would run first, then the files it loads; by name within each. */
  readonly items: readonly TrustItem[];
  readonly coverage: Coverage;
  /** The files that these items load, and no others. */
  coverageOf(items: ReadonlySet<TrustItem>): Coverage;
  /** Undefined for a module that is not part of the digest. */
  itemOf(module: Pick<FoundModule, "kind" | "path">): TrustItem | undefined;
}

/** The files that a digest was made of. Of a project's own files, only these are loaded and read. */
export interface Coverage {
  isCovered(realPath: string): boolean;
  /** Throws `file_refused` for a file that is not among them, or whose content has changed since. */
  admit(realPath: string, content: Uint8Array): void;
}

export async function digestProject(options: DigestProjectOptions): Promise<ProjectDigest> {
  const { root, mcpServers = [], settings = [], texts = [] } = options;
  const modules = onceEach(options.modules.filter(({ needsTrust }) => needsTrust));
  if (modules.length + mcpServers.length + settings.length + texts.length === 0) return nothingIn(root);
  const pathsOf = (isScript: boolean) =>
    modules.filter((module) => (module.isScript ?? false) === isScript).map(({ path }) => path);
  const plain = texts.map(({ path }) => path);
  const found = await digestFiles({ modules: pathsOf(false), scripts: pathsOf(true), texts: plain }, options);
  const make = itemMaker(root, found);
  const entries = [
    ...modules.map((module) => ({ realPath: module.realPath, item: make.module(module) })),
    ...texts.map((text) => ({ realPath: realPathOf(text.path), item: make.text(text) })),
  ];
  const items = [
    ...entries.map(({ item }) => item),
    ...mcpServers.map(make.server),
    ...make.settings(settings),
    ...make.imports(entries.map(({ realPath }) => realPath)),
  ];
  items.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compare(a.name, b.name));
  const byKey = new Map(items.map((item) => [itemKey(item), item]));
  return {
    root,
    digest: sha256Of(linesOf(items)),
    items,
    coverage: coverageOf(found.files),
    coverageOf(wanted) {
      const own = entries.filter(({ item }) => wanted.has(item)).map(({ realPath }) => realPath);
      const reached = new Set(own.flatMap((path) => [...reachableFrom(path, found.loads).files]));
      return coverageOf(new Map([...found.files].filter(([path]) => reached.has(path))));
    },
    itemOf: ({ kind, path }) => byKey.get(itemKey({ kind, name: nameIn(root, path) })),
  };
}

/** No two items of a project have the same. */
export function itemKey({ kind, name }: Pick<TrustItem, "kind" | "name">): string {
  return JSON.stringify([kind, name]);
}

function nameIn(root: string, path: string): string {
  return relative(root, path).replaceAll(sep, "/");
}

const kinds: readonly TrustItemKind[] = [
  ...(["tool", "command", "extension", "hook", "mcp", "setting"] as const),
  ...(["prompt", "skill", "rule", "file", "package"] as const),
];

/** A module that is found in a directory and named by a setting counts once. */
function onceEach(modules: readonly FoundModule[]): FoundModule[] {
  return [...new Map(modules.map((module) => [JSON.stringify([module.kind, module.path]), module])).values()];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function nothingIn(root: string): ProjectDigest {
  const coverage = coverageOf(new Map());
  return { root, digest: "nothing", items: [], coverage, coverageOf: () => coverage, itemOf: () => undefined };
}

/** Every item is one line of JSON, so that no name can look like two. */
function linesOf(items: readonly TrustItem[]): string {
  const lines = items.map(({ kind, name, hash }) => JSON.stringify([kind, name, hash]));
  return ["galley trust 1", ...lines.sort()].join("\n");
}

function itemMaker(root: string, { files, manifests, loads, problem }: DigestedFiles) {
  const named = (path: string) => nameIn(root, path);
  const valued = (kind: "mcp" | "setting", name: string, value: unknown) => ({
    kind,
    name,
    value,
    hash: sha256Of(JSON.stringify(value) ?? ""),
  });
  /** Lines of JSON, so that no name can look like two. A search that was cut short may have missed something. */
  const withLoaded = (item: TrustItem, realPath: string): TrustItem => {
    const reached = reachableFrom(realPath, loads);
    const loaded = [
      ...[...reached.files].filter((path) => path !== realPath).map((path) => [named(path), files.get(path)?.hash]),
      ...[...reached.manifests].map((path) => [named(path), manifests.get(path)]),
    ].filter(([, hash]) => hash !== undefined);
    const lines = [[item.kind, item.name, item.hash], ...loaded.sort(), ...(problem === undefined ? [] : [[problem]])];
    const names = loaded.map(([name]) => name as string);
    return {
      ...item,
      digest: sha256Of(lines.map((line) => JSON.stringify(line)).join("\n")),
      ...(names.length === 0 ? {} : { loads: names }),
    };
  };
  const found = ({ kind, path, realPath }: Pick<FoundModule, "path" | "realPath"> & { kind: TrustItemKind }) => {
    const file = files.get(realPath);
    const target = named(realPath);
    return withLoaded(
      {
        kind,
        name: named(path),
        hash: sha256Of(`${target} ${file?.hash}`),
        ...(target === named(path) ? {} : { target }),
        ...(file ? remarks(file) : { problem: "no longer exists" }),
      },
      realPath,
    );
  };
  return {
    module: (module: FoundModule): TrustItem => found(module),
    text: ({ kind, path }: PolicyText): TrustItem => found({ kind, path, realPath: realPathOf(path) }),
    server({ file, name, argv, entry }: McpServer): TrustItem {
      const item = valued("mcp", `${named(file)}#${name}`, entry);
      return { ...item, digest: item.hash, ...(argv ? { argv } : {}) };
    },
    /** All or none of them count, so each one's digest is that of all. */
    settings(settings: readonly PolicySetting[]): TrustItem[] {
      const items = settings.map(({ file, key, value }) => valued("setting", `${named(file)}#${key}`, value));
      const digest = sha256Of(linesOf(items));
      return items.map((item) => ({ ...item, digest }));
    },
    /** Files in the digest that are not items of their own. */
    imports(own: readonly string[]): TrustItem[] {
      const entries = new Set(own);
      const imported = [...files.values()].filter(({ realPath }) => !entries.has(realPath));
      return [
        ...imported.map((file) => ({
          kind: "file" as const,
          name: named(file.realPath),
          hash: file.hash,
          ...remarks(file),
        })),
        ...[...manifests].map(([path, hash]) => ({ kind: "package" as const, name: named(path), hash })),
        ...(problem === undefined ? [] : [{ kind: "file" as const, name: ".", hash: sha256Of(problem), problem }]),
      ];
    },
  };
}

function remarks({ problem, computedLines }: DigestedFile): Pick<TrustItem, "problem" | "computedLines"> {
  return { problem, ...(computedLines.length === 0 ? {} : { computedLines }) };
}

function coverageOf(files: DigestedFiles["files"]): Coverage {
  return {
    isCovered: (realPath) => files.get(realPath)?.sha256 !== undefined,
    admit(realPath, content) {
      const expected = files.get(realPath)?.sha256;
      if (expected === undefined) refuse(realPath);
      if (sha256Of(content) !== expected)
        throw new GalleyError("file_refused", `${realPath} has changed since it was checked`);
    },
  };
}

function refuse(realPath: string): never {
  throw new GalleyError("file_refused", `${realPath} is not part of what was trusted`);
}
