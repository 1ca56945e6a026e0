// What a project would run or decide, item by item, and one digest over all of it. The user trusts a digest; any change
// in its items makes another one.

import { relative, sep } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import { lookAt } from "../../files/module-files.js";
import type { McpServer } from "../discover/find-mcp-servers.js";
import type { FoundModule } from "../discover/findings.js";
import { type DigestedFile, type DigestedFiles, digestFiles, type FileLimits } from "./digest-files.js";

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
  const items = [
    ...modules.map(make.module),
    ...mcpServers.map(make.server),
    ...settings.map(make.setting),
    ...texts.map(make.text),
    ...make.imports([...modules.map(({ realPath }) => realPath), ...texts.map(({ path }) => realPathOf(path))]),
  ];
  items.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compare(a.name, b.name));
  return { root, digest: sha256Of(linesOf(items)), items, coverage: coverageOf(found) };
}

const kinds: readonly TrustItemKind[] = [
  ...(["tool", "command", "extension", "hook", "mcp", "setting"] as const),
  ...(["prompt", "skill", "rule", "file", "package"] as const),
];

function realPathOf(path: string): string {
  const looked = lookAt(path);
  return "realPath" in looked ? looked.realPath : path;
}

/** A module that is found in a directory and named by a setting counts once. */
function onceEach(modules: readonly FoundModule[]): FoundModule[] {
  return [...new Map(modules.map((module) => [JSON.stringify([module.kind, module.path]), module])).values()];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function nothingIn(root: string): ProjectDigest {
  return { root, digest: "nothing", items: [], coverage: { isCovered: () => false, admit: refuse } };
}

/** Every item is one line of JSON, so that no name can look like two. */
function linesOf(items: readonly TrustItem[]): string {
  const lines = items.map(({ kind, name, hash }) => JSON.stringify([kind, name, hash]));
  return ["galley trust 1", ...lines.sort()].join("\n");
}

function itemMaker(root: string, { files, manifests, problem }: DigestedFiles) {
  const named = (path: string) => relative(root, path).replaceAll(sep, "/");
  const valued = (kind: "mcp" | "setting", name: string, value: unknown): TrustItem => ({
    kind,
    name,
    value,
    hash: sha256Of(JSON.stringify(value) ?? ""),
  });
  const found = ({ kind, path, realPath }: Pick<FoundModule, "path" | "realPath"> & { kind: TrustItemKind }) => {
    const file = files.get(realPath);
    const target = named(realPath);
    return {
      kind,
      name: named(path),
      hash: sha256Of(`${target} ${file?.hash}`),
      ...(target === named(path) ? {} : { target }),
      ...(file ? remarks(file) : { problem: "no longer exists" }),
    };
  };
  return {
    module: (module: FoundModule): TrustItem => found(module),
    text: ({ kind, path }: PolicyText): TrustItem => found({ kind, path, realPath: realPathOf(path) }),
    server: ({ file, name, argv, entry }: McpServer): TrustItem => ({
      ...valued("mcp", `${named(file)}#${name}`, entry),
      ...(argv ? { argv } : {}),
    }),
    setting: ({ file, key, value }: PolicySetting): TrustItem => valued("setting", `${named(file)}#${key}`, value),
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
  return { ...(problem === undefined ? {} : { problem }), ...(computedLines.length === 0 ? {} : { computedLines }) };
}

function coverageOf({ files }: DigestedFiles): Coverage {
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
