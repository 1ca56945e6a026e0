// A workspace whose files an extension reaches: over a connection, in a container, wherever its functions lead. Only what
// these functions say is known, and what they write is neither staged nor undone. The rules for the files of this
// machine do not apply there.

import { basename, dirname, relative, resolve } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import { withHome } from "../../base/home.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { DirectoryEntry, FileBytes, Target, Workspace, WriteTarget } from "../../files/workspace.js";
import type { Staging } from "../../tools/staging.js";

type Answer<Value> = Value | Promise<Value>;

/** What published makers of tools take; each takes some of it. Paths are absolute. */
export interface FileOperations {
  readFile?(path: string): Answer<Uint8Array | string>;
  writeFile?(path: string, content: string): Answer<unknown>;
  mkdir?(path: string): Answer<unknown>;
  /** Throws where the file cannot be opened. */
  access?(path: string): Answer<unknown>;
  exists?(path: string): Answer<boolean>;
  isDirectory?(path: string): Answer<boolean>;
  stat?(path: string): Answer<{ isDirectory(): boolean }>;
  readdir?(path: string): Answer<readonly string[]>;
  glob?(pattern: string, cwd: string, options: { ignore: string[]; limit: number }): Answer<readonly string[]>;
}

export function operationsWorkspace(
  operations: FileOperations,
  { cwd, walk }: { cwd: string; walk?: Workspace["walk"] },
): Workspace {
  const pathOf = (input: string) => resolve(cwd, withHome(input));
  const shown = (path: string) => {
    const below = relative(cwd, path);
    return printable(below === "" ? "." : below.startsWith("..") ? path : below);
  };
  const need = <Name extends keyof FileOperations>(name: Name): NonNullable<FileOperations[Name]> => {
    const operation = operations[name];
    if (!operation) throw new GalleyError("unsupported", `This tool was made without the operation ${name}.`);
    return operation.bind(operations) as NonNullable<FileOperations[Name]>;
  };
  const isThere = async (path: string) => {
    if (operations.exists) return operations.exists(path);
    if (!operations.access) return operations.isDirectory !== undefined; // it says so when it is read
    return Promise.resolve(operations.access(path)).then(
      () => true,
      () => false, // missing or closed to us: the function does not say which
    );
  };
  const isDirectory = async (path: string) => {
    if (operations.isDirectory) return operations.isDirectory(path);
    return operations.stat ? (await operations.stat(path)).isDirectory() : false;
  };
  const bytesAt = async (path: string) => {
    const content = await need("readFile")(path);
    return typeof content === "string" ? Buffer.from(content) : content;
  };
  const toRead = async (input: string): Promise<Target> => {
    const path = pathOf(input);
    if (!(await isThere(path))) throw new GalleyError("not_found", `File not found: ${shown(path)}`);
    const kind = (await isDirectory(path)) ? "directory" : "file";
    return { path, displayPath: shown(path), kind, identity: path };
  };
  const toWrite = async (input: string): Promise<WriteTarget> => {
    const path = pathOf(input);
    const isFile = operations.readFile !== undefined && (await isThere(path));
    return { path, displayPath: shown(path), ...(isFile ? { kind: "file", identity: path } : { kind: "absent" }) };
  };
  const readFile = async (target: Target, { maxBytes = Number.POSITIVE_INFINITY } = {}): Promise<FileBytes> => {
    const bytes = await bytesAt(target.path);
    return { bytes: bytes.subarray(0, maxBytes), isTruncated: bytes.length > maxBytes };
  };
  return {
    cwd,
    resolve: ((input: string, intent: "read" | "write") =>
      intent === "read" ? toRead(input) : toWrite(input)) as Workspace["resolve"],
    resolveCwd: () => toRead("."),
    resolveAll: (inputs) => Promise.all(inputs.map(toWrite)),
    mayWriteBelow: async () => true,
    stat: async ({ path }) => ({ sizeBytes: (await bytesAt(path)).length, modifiedMs: 0, mode: 0o644 }),
    readFile,
    async readIf(target, isWanted, options) {
      const file = await readFile(target, options as object);
      return file.isTruncated || isWanted(file.bytes) ? file : undefined;
    },
    modifiedTimes: async () => undefined,
    survey: async () => undefined,
    async list({ path }, { limit }) {
      const names = [...(await need("readdir")(path))].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase()));
      const entryOf = async (name: string): Promise<DirectoryEntry> => {
        const kind = (await isDirectory(resolve(path, name))) ? "directory" : "file";
        return { name: basename(name), kind, modifiedMs: 0 };
      };
      return { entries: await Promise.all(names.slice(0, limit).map(entryOf)), total: names.length };
    },
    walk(target, options) {
      if (!walk) throw new GalleyError("unsupported", "This tool cannot search directories.");
      return walk(target, options);
    },
    async writeFile({ path, kind }, { bytes, expected }) {
      if (expected !== undefined && expected !== "absent" && sha256Of(await bytesAt(path)) !== expected)
        throw new GalleyError("file_changed", `${shown(path)} has changed meanwhile`);
      if (operations.mkdir) await operations.mkdir(dirname(path));
      await need("writeFile")(path, Buffer.from(bytes).toString("utf8"));
      return { created: kind === "absent" };
    },
    removeFile: async () => {
      throw new GalleyError("unsupported", "This tool cannot remove files.");
    },
    exclusively: async (_file, work) => work(),
  };
}

/** For tools that write there at once: the session's previews and its undo are about the files of this machine. */
export function unstaged(workspace: Workspace): Staging {
  return {
    mode: () => "off",
    staged: () => [],
    stagedPaths: () => [],
    note: async () => async () => {},
    wrote: async () => {},
    stage: async () => {
      throw new GalleyError("unsupported", "This tool cannot stage its changes.");
    },
    async applyNow(changes) {
      for (const { path, after } of changes)
        await workspace.writeFile(await workspace.resolve(path, "write"), { bytes: after });
      return { changeId: "" };
    },
  };
}
