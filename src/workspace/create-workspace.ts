// The workspace's rules, on any disk: check the words, follow the links, refuse what is protected or special, and open
// only what was checked.

import { join, resolve } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import { type Disk, type DiskStat, maxListed } from "./disk.js";
import { credentialReason, denialOf, isPrivateKey, privateKeyReason, type ReadPolicy } from "./read-denials.js";
import { displayPath, quoted, shownBelow, spellings } from "./resolve-path.js";
import { walkFiles } from "./walk.js";
import type { DirectoryEntry, Target, Workspace } from "./workspace.js";

const defaultMaxReadBytes = 50 * 1024 * 1024;

export interface WorkspaceOptions {
  cwd: string;
  /** Whose `~` it is. */
  home: string;
  /** Where the credential file lives. */
  agentDir: string;
}

export function createWorkspace(disk: Disk, options: WorkspaceOptions): Workspace {
  const { home } = options;
  const cwd = resolve(options.cwd);
  const credentialFile = join(options.agentDir, "auth.json");

  return {
    cwd,

    async resolve(input) {
      const policy = await readPolicy();
      for (const path of spellings(input, { cwd, home })) {
        refuseDenied(path, denialOf(path, policy));
        const canonical = await disk.realpath(path).catch((error: unknown) => missing(path, error));
        if (canonical === undefined) continue;
        refuseDenied(path, denialOf(canonical, policy));
        const stat = await disk.lstat(canonical).catch((error: unknown) => missing(path, error));
        if (stat === undefined) continue;
        return target({ path, canonical, stat, credential: policy.credential });
      }
      throw new GalleyError("not_found", `Path ${quoted(input)} not found`);
    },

    async stat(target) {
      const { sizeBytes, modifiedMs } = await statOf(target);
      return { sizeBytes, modifiedMs };
    },

    async readFile(target, { maxBytes = defaultMaxReadBytes, signal } = {}) {
      expectKind(target, "file");
      const read = await disk
        .read(target.path, target.identity, { maxBytes, signal })
        .catch((error: unknown) => failed(target, error));
      if (read === undefined) throw changed(target);
      if (isPrivateKey(read.bytes)) throw refusal(target.displayPath, privateKeyReason);
      return read;
    },

    async list(target, { limit, signal }) {
      expectKind(target, "directory");
      await statOf(target);
      const found = await disk.list(target.path, maxListed).catch((error: unknown) => failed(target, error));
      found.sort((a, b) => byText(a.name.toLowerCase(), b.name.toLowerCase()) || byText(a.name, b.name));
      const entries: DirectoryEntry[] = [];
      for (const { name } of found.slice(0, limit)) {
        throwIfAborted(signal);
        // An entry may vanish between the two calls; then it is not there.
        const stat = await disk.lstat(join(target.path, name)).catch(() => undefined);
        if (stat) entries.push({ name, kind: stat.kind, modifiedMs: stat.modifiedMs });
      }
      return { entries, total: found.length };
    },

    async *walk(target, options = {}) {
      expectKind(target, "directory");
      await statOf(target);
      const policy = await readPolicy();
      try {
        for await (const { path, relativePath, stat } of walkFiles(disk, { root: target, cwd, ...options })) {
          if (denialOf(path, policy) || stat.identity === policy.credential) continue;
          const shown = shownBelow(target.displayPath, relativePath);
          yield { path, displayPath: shown, kind: "file", identity: stat.identity };
        }
      } catch (error) {
        throw systemFailure(target.displayPath, error);
      }
    },
  };

  /** Asked anew each time: the credential file may appear, or be replaced, while a session lives. */
  async function readPolicy(): Promise<ReadPolicy & { credential: string | undefined }> {
    // Absent or out of reach, it is protected by its name alone.
    const canonical = await disk.realpath(credentialFile).catch(() => undefined);
    const stat = canonical === undefined ? undefined : await disk.lstat(canonical).catch(() => undefined);
    return {
      cwds: [cwd, await disk.realpath(cwd).catch(() => cwd)],
      home,
      credentialFiles: canonical ? [credentialFile, canonical] : [credentialFile],
      credential: stat?.identity,
    };
  }

  function target(found: { path: string; canonical: string; stat: DiskStat; credential: string | undefined }): Target {
    const shown = displayPath(found.path, cwd);
    const { kind, kindName, identity } = found.stat;
    if (identity === found.credential) throw refusal(shown, credentialReason);
    if (kind === "link") throw refusal(shown, "it changed while it was opened");
    if (kind === "special") throw refusal(shown, `it is ${kindName}, not a regular file`);
    return { path: found.canonical, displayPath: shown, kind, identity };
  }

  function refuseDenied(path: string, reason: string | undefined): void {
    if (reason !== undefined) throw refusal(displayPath(path, cwd), reason);
  }

  /** A path that leads nowhere is missing; any other failure is told. */
  function missing(path: string, error: unknown): undefined {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw systemFailure(displayPath(path, cwd), error);
  }

  async function statOf(target: Target): Promise<DiskStat> {
    const stat = await disk.lstat(target.path).catch((error: unknown) => failed(target, error));
    if (stat.identity !== target.identity) throw changed(target);
    return stat;
  }
}

function expectKind(target: Target, kind: Target["kind"]): void {
  if (target.kind !== kind)
    throw new GalleyError("invalid_argument", `${target.displayPath} is a ${target.kind}, not a ${kind}`);
}

function changed(target: Target): GalleyError {
  return refusal(target.displayPath, "it changed while it was opened");
}

function refusal(shownPath: string, reason: string): GalleyError {
  return new GalleyError("file_refused", `Refused to open ${quoted(shownPath)}: ${reason}.`);
}

function failed(target: Target, error: unknown): never {
  if (systemCode(error) === "ENOENT")
    throw new GalleyError("not_found", `Path ${quoted(target.displayPath)} not found`, { cause: error });
  throw systemFailure(target.displayPath, error);
}

const systemReasons: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many symbolic links",
};

function systemFailure(shownPath: string, error: unknown): GalleyError {
  if (error instanceof GalleyError) return error;
  const code = systemCode(error);
  const reason = (code && systemReasons[code]) ?? code ?? messageOf(error);
  return new GalleyError("file_refused", `Cannot open ${quoted(shownPath)}: ${reason}.`, { cause: error });
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
