// A project on the real disk, in a directory that the test gives, and change sets for it.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChangeOutcome } from "../../plans/change-writer.js";
import { type ApplyContext, applyChangeSet } from "../apply.js";
import type { AppliedSet, ChangeDisk, ChangeOp, ChangeSet } from "../change-set.js";
import { nodeChangeDisk } from "../node-change-disk.js";
import { recoverChanges } from "../recover.js";

export class Project {
  readonly home: string;
  readonly root: string;
  readonly directories: { readonly root: string; readonly journalDir: string; readonly undoDir: string };
  readonly settled: ChangeOutcome[] = [];
  disk: ChangeDisk = nodeChangeDisk;
  settles: () => Promise<boolean> = async () => true;

  constructor(home: string) {
    this.home = home;
    this.root = join(home, "project");
    this.directories = { root: this.root, journalDir: join(home, "journal"), undoDir: join(home, "undo") };
    for (const directory of [this.root, this.directories.journalDir, this.directories.undoDir]) mkdirSync(directory);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string | Buffer, mode = 0o644): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text, { mode });
  }

  read(name: string): string {
    return readFileSync(this.path(name), "latin1");
  }

  /** Every file with its bytes, every empty directory as null. */
  tree(): Record<string, string | null> {
    const found: Record<string, string | null> = {};
    for (const name of readdirSync(this.root, { recursive: true, encoding: "utf8" }).sort()) {
      const isDirectory = statSync(this.path(name)).isDirectory();
      if (!isDirectory) found[name] = this.read(name);
      else if (readdirSync(this.path(name)).length === 0) found[`${name}/`] = null;
    }
    return found;
  }

  journals(): string[] {
    return readdirSync(this.directories.journalDir);
  }

  undoRecords(): string[] {
    return readdirSync(this.directories.undoDir).map((name) => join(this.directories.undoDir, name));
  }

  modify(name: string, text: string, more: { mode?: number; mtimeMs?: number; force?: boolean } = {}): ChangeOp {
    return { kind: "modify", ...this.#seen(name), bytes: Buffer.from(text, "latin1"), ...more };
  }

  create(name: string, text: string, more: { mode?: number; mtimeMs?: number } = {}): ChangeOp {
    return { kind: "create", path: this.path(name), shownPath: name, bytes: Buffer.from(text, "latin1"), ...more };
  }

  delete(name: string, more: { force?: boolean } = {}): ChangeOp {
    return { kind: "delete", ...this.#seen(name), ...more };
  }

  rename(name: string, to: string, text = this.read(name)): ChangeOp {
    const bytes = Buffer.from(text, "latin1");
    return { kind: "rename", ...this.#seen(name), to: this.path(to), shownTo: to, bytes };
  }

  apply(
    ops: readonly ChangeOp[],
    { signal, owner, ...more }: Partial<ApplyContext> & { signal?: AbortSignal; owner?: ChangeSet["owner"] } = {},
  ): Promise<AppliedSet> {
    const set = { label: "Rename it", sourceToolName: "ast_edit", by: "user", reason: "agreed", ops };
    return applyChangeSet(
      {
        disk: this.disk,
        directories: this.directories,
        txid: randomBytes(16).toString("hex"),
        now: 1234,
        width: 8,
        keepsUndo: true,
        settle: (outcome) => this.#settle(outcome),
        ...more,
      },
      owner ? { ...set, owner } : set,
      signal,
    );
  }

  recover(): Promise<ChangeOutcome[]> {
    const { disk, directories } = this;
    return recoverChanges({
      disk,
      journalDir: directories.journalDir,
      width: 8,
      settle: (outcome) => this.#settle(outcome),
    });
  }

  #seen(name: string): { path: string; shownPath: string; beforeHash: string } {
    const path = this.path(name);
    const bytes = existsSync(path) ? readFileSync(path) : "";
    return { path, shownPath: name, beforeHash: createHash("sha256").update(bytes).digest("hex") };
  }

  #settle(outcome: ChangeOutcome): Promise<boolean> {
    this.settled.push(outcome);
    return this.settles();
  }
}

/** The real disk, on which a call fails with what `onCall` throws. Of a link and a rename it hears both names. */
export function failingDisk(onCall: (name: string, path: string, to?: string) => void): ChangeDisk {
  const watched = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        if (typeof value !== "function" || key === "close") return value;
        return async (...args: unknown[]) => {
          const about = typeof args[0] === "string" ? args[0] : path;
          onCall(String(key), about, typeof args[1] === "string" ? args[1] : undefined);
          const result: unknown = await value.apply(object, args);
          return typeof result === "object" && result !== null && "close" in result ? watched(result, about) : result;
        };
      },
    });
  return watched(nodeChangeDisk, "");
}
