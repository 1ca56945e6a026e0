// The workspace's rules, on any disk: check the text of a path, follow links, refuse what is protected or special, and
// open only what was checked.

import { join, resolve as resolvePath, sep } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError, systemCode } from "../base/errors.js";
import { type Disk, type DiskKind, type DiskRead, type DiskStat, maxListed } from "./disk/disk.js";
import { queueOf } from "./disk/file-queue.js";
import { removeFile } from "./disk/remove-file.js";
import { isTempName } from "./disk/temp-names.js";
import { replaceFile } from "./disk/write-file.js";
import {
  credentialReason,
  denialOf,
  denialTest,
  foreignHomeReason,
  isPrivateKey,
  privateKeyReason,
  type ReadPolicy,
} from "./paths/read-denials.js";
import { displayPath, isWithin, quoted, shownBelow, spellings } from "./paths/resolve-path.js";
import { createWriteResolver, isAllowed, type WriteRules } from "./paths/resolve-write.js";
import { defaultSecretPaths, secretTest } from "./paths/secret-paths.js";
import { cannotOpen, refusal } from "./refusals.js";
import { surveyFiles } from "./walk/survey.js";
import { walkFiles } from "./walk/walk.js";
import type { DirectoryEntry, Intent, Permit, Target, Workspace, WriteTarget } from "./workspace.js";

const defaultMaxReadBytes = 50 * 1024 * 1024;

export interface WorkspaceOptions {
  cwd: string;
  /** The home directory that `~` stands for. */
  home: string;
  /** Where the credential file lives. */
  agentDir: string;
  /** The user's configuration. Default: `.galley` in the home. */
  configDir?: string | undefined;
  /** What may be written, canonical. Default: `cwd`. */
  projectRoot?: string | undefined;
  /** More directories that may be written: the user's setting `workspace.roots`. */
  roots?: readonly string[] | undefined;
  /** The session's private directory for temporary files, which may be written as well. */
  tempDir?: string | undefined;
  /** See `WriteRules`. */
  repositoriesOf?: WriteRules["repositoriesOf"];
  gitTest?: WriteRules["gitTest"];
  /** Asks the user. Default: the answer is no. */
  permit?: Permit | undefined;
  /** Default 50 MiB. */
  maxReadBytes?: number | undefined;
  /** The setting `secrets.paths`. Default: `.env*`, `*.pem`, `id_*`. */
  secretPaths?: readonly string[] | undefined;
}

export function createWorkspace(disk: Disk, options: WorkspaceOptions): Workspace {
  const { home, agentDir, permit } = options;
  const cwd = resolvePath(options.cwd);
  const credentialFile = join(agentDir, "auth.json");
  const { maxReadBytes = defaultMaxReadBytes } = options;
  let here: ReturnType<Disk["findOwn"]>;
  const isSecret = secretTest(options.secretPaths ?? defaultSecretPaths, home);
  const writing = createWriteResolver(disk, {
    cwd,
    home,
    configDirectories: [options.configDir ?? join(home, ".galley"), agentDir],
    projectRoot: options.projectRoot ?? cwd,
    roots: options.roots ?? [],
    tempDir: options.tempDir,
    repositoriesOf: options.repositoriesOf,
    gitTest: options.gitTest,
    permit,
  });

  const readIf: Workspace["readIf"] = async (target, isWanted, { maxBytes = maxReadBytes, signal } = {}) => {
    expectKind(target, "file");
    const isTold = (bytes: Uint8Array) => isPrivateKey(bytes) || isWanted(bytes);
    const bulk = await disk.inBulk(target);
    const read = await bulk
      .readIf(target.path, target.identity, { maxBytes, signal, isWanted: isTold })
      .catch((error: unknown) => failed(target, error));
    return read === "unwanted" ? undefined : allowed(target, read);
  };

  return {
    cwd,
    resolve,
    resolveCwd: () => resolveRead(cwd, { isAtOnce: true }),
    resolveAll: (inputs) => writing.resolveAll(inputs),
    checkEntries: (entries) => writing.checkEntries(entries),

    mayWriteBelow: (target) => writing.isInRoots(target.path),

    async stat(target) {
      const { sizeBytes, modifiedMs, mode } = await statOf(target);
      return { sizeBytes, modifiedMs, mode };
    },

    async readFile(target, options) {
      const read = await readIf(target, () => true, options);
      if (!read) throw changed(target);
      return read;
    },

    readIf,

    async modifiedTimes(target) {
      expectKind(target, "directory");
      const { modifiedTimes } = await disk.inBulk(target);
      return modifiedTimes && ((paths) => modifiedTimes(paths.map((path) => `${target.path}${sep}${path}`)));
    },

    async list(target, { limit, signal }) {
      expectKind(target, "directory");
      await statOf(target);
      const found = await disk.list(target.path, maxListed).catch((error: unknown) => failed(target, error));
      const shown = found.filter(({ name }) => !isTempName(name));
      shown.sort((a, b) => byText(a.name.toLowerCase(), b.name.toLowerCase()) || byText(a.name, b.name));
      const entries: DirectoryEntry[] = [];
      for (const { name } of shown.slice(0, limit)) {
        throwIfAborted(signal);
        // An entry may vanish between the two calls; then it is not there.
        const stat = await disk.lstat(join(target.path, name)).catch(() => undefined);
        if (stat) entries.push({ name, kind: stat.kind, modifiedMs: stat.modifiedMs });
      }
      return { entries, total: shown.length };
    },

    async *walk(target, options = {}) {
      expectKind(target, "directory");
      await statOf(target);
      const mayShow = await showTest();
      try {
        for await (const found of walkFiles(await disk.inBulk(target), { root: target, cwd, ...options }))
          for (const { path, relativePath, identity } of found) {
            throwIfAborted(options.signal);
            if (!mayShow(path, identity)) continue;
            yield { path, displayPath: shownBelow(target.displayPath, relativePath), kind: "file", identity };
          }
      } catch (error) {
        throw cannotOpen(target.displayPath, error);
      }
    },

    async survey(target) {
      expectKind(target, "directory");
      await statOf(target);
      const bulk = await disk.inBulk(target);
      return bulk.modifiedTimes && surveyFiles(bulk, { root: target, cwd, showTest });
    },

    writeFile: (target, request) => replaceFile(disk, target, request),

    removeFile: (target, request) => removeFile(disk, target, request),

    exclusively: (target, work) => queueOf(disk).run(target, work),
  };

  function resolve(input: string, intent: "read"): Promise<Target>;
  function resolve(input: string, intent: "write"): Promise<WriteTarget>;
  function resolve(input: string, intent: Intent): Promise<Target | WriteTarget> {
    return intent === "write" ? writing.resolve(input) : resolveRead(input);
  }

  async function resolveRead(input: string, { isAtOnce = false } = {}): Promise<Target> {
    const policy = readPolicy();
    for (const path of spellings(input, { cwd, home })) {
      refuseDenied(path, await denial(path, policy));
      const own = isAtOnce ? disk.findOwn(path) : undefined; // else the slow way says why
      const eyes = own ? disk : await eyesFor(path);
      const canonical = own?.path ?? (await eyes.realpath(path).catch((error: unknown) => missing(path, error)));
      if (canonical === undefined) continue;
      if (canonical !== path) refuseDenied(path, await denial(canonical, policy));
      const stat = own ?? (await eyes.lstat(canonical).catch((error: unknown) => missing(path, error)));
      if (stat === undefined) continue;
      const found = target({ path, canonical, stat, credential: policy.credential });
      const mayBeSecret = isSecret(path) || (canonical !== path && isSecret(canonical));
      if (found.kind === "file" && mayBeSecret) await askForSecret(found);
      return found;
    }
    throw new GalleyError("not_found", `Path ${quoted(input)} not found`);
  }

  /** In the session's directory a single file is looked at as a search there would do it. */
  async function eyesFor(path: string): Promise<Pick<Disk, "realpath" | "lstat">> {
    here ??= disk.findOwn(cwd);
    return here && isWithin(path, cwd) ? disk.inBulk(here) : disk;
  }

  /** Whether a search may come across a file. */
  async function showTest(): Promise<(path: string, identity: string) => boolean> {
    const policy = { ...readPolicy(), cwds: await namesOfCwd() };
    const denial = denialTest(policy);
    // A search does not ask the user about secrets. Only a file that is named by itself is asked about.
    return (path, identity) => !denial(path) && identity !== policy.credential && !isSecret(path);
  }

  async function askForSecret({ path, displayPath }: Target): Promise<void> {
    if (await isAllowed(permit, { intent: "read", path, displayPath, reason: "secret" })) return;
    throw refusal(displayPath, "it may hold secrets (setting secrets.paths) and the user did not allow it");
  }

  /** Looked up each time: the credential file may appear, or be replaced, while a session is open. */
  function readPolicy(): ReadPolicy & { credential: string | undefined } {
    // If it is missing or cannot be read, it is protected by its name alone.
    const found = disk.findOwn(credentialFile);
    return {
      cwds: [cwd],
      home,
      credentialFiles: found ? [credentialFile, found.path] : [credentialFile],
      credential: found?.identity,
    };
  }

  /** The other name of the session's directory matters only for a path in another user's home. */
  async function denial(path: string, policy: ReadPolicy): Promise<string | undefined> {
    const reason = denialOf(path, policy);
    return reason === foreignHomeReason ? denialOf(path, { ...policy, cwds: await namesOfCwd() }) : reason;
  }

  async function namesOfCwd(): Promise<string[]> {
    return [cwd, await disk.realpath(cwd).catch(() => cwd)];
  }

  function target(found: { path: string; canonical: string; stat: DiskKind; credential: string | undefined }): Target {
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

  /** A path that leads nowhere is missing; any other failure is reported. */
  function missing(path: string, error: unknown): undefined {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw cannotOpen(displayPath(path, cwd), error);
  }

  async function statOf(target: Target): Promise<DiskStat> {
    const bulk = await disk.inBulk(target); // a preview looks at thousands
    const stat = await bulk.lstat(target.path).catch((error: unknown) => failed(target, error));
    if (stat.identity !== target.identity) throw changed(target);
    return stat;
  }
}

function expectKind(target: Target, kind: Target["kind"]): void {
  if (target.kind !== kind)
    throw new GalleyError("invalid_argument", `${target.displayPath} is a ${target.kind}, not a ${kind}`);
}

function allowed(target: Target, read: DiskRead | undefined): DiskRead {
  if (read === undefined) throw changed(target);
  if (isPrivateKey(read.bytes)) throw refusal(target.displayPath, privateKeyReason);
  return read;
}

function changed(target: Target): GalleyError {
  return refusal(target.displayPath, "it changed while it was opened");
}

function failed(target: Target, error: unknown): never {
  if (systemCode(error) === "ENOENT")
    throw new GalleyError("not_found", `Path ${quoted(target.displayPath)} not found`, { cause: error });
  throw cannotOpen(target.displayPath, error);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
