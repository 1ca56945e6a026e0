// One session's view of its writable roots. For each command the layer is made to show what is staged, a process holds
// the mounts, and what the command did is collected; then the mounts vanish with the process.

import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import { type Log, silentLog } from "../../base/log.js";
import { acquireLock, type FileLock } from "../../base/path-lock.js";
import { isWithin } from "../paths/resolve-path.js";
import { type ChooseOptions, type ChosenLayers, chooseLayers, refused } from "./choose-layers.js";
import { removeLayer } from "./clean-layers.js";
import { type CopyMarks, copyMarks, copyTree } from "./copy-tree.js";
import { deleteIn, fillLayer, inLayer, isInside, setAside, stagedDeletions, withoutSlash } from "./fill-layer.js";
import { entryAt, namesIn } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";
import { type OpenViewOptions, openView } from "./open-view.js";
import { removeTree } from "./remove-tree.js";
import { defaultStageLimits, type StageLimits } from "./stage-limits.js";
import type { OpenView, StagedState, StageView } from "./stage-view.js";
import { holderScript, mountArguments, type ViewHolder } from "./view-programs.js";

export interface StageViewOptions
  extends Omit<ChooseOptions, "claim" | "giveBack" | "limits">,
    Pick<OpenViewOptions, "runInView">,
    Partial<Pick<OpenViewOptions, "limits" | "clock" | "log">> {
  /** Canonical, the project's root first. One that lies in another is part of it. */
  readonly roots: readonly string[];
  /** What becomes of files that git ignores. Default `keep`. */
  readonly ignored?: "keep" | "plan" | "drop" | undefined;
  /** Of the project, for paths that are shown. Default: the first root. */
  readonly cwd?: string | undefined;
  /** Whether something of the session is pending: then its layer outlives it. Default: nothing is. */
  readonly hasPending?: (() => boolean | Promise<boolean>) | undefined;
}

const lockWaitMs = 5000;

/** Throws `unsupported`, `Staging commands is not possible here: <reason>`; `details.reason` is the reason alone. */
export async function createStageView(options: StageViewOptions): Promise<StageView> {
  const { clock = systemClock, log = silentLog, limits = defaultStageLimits } = options;
  const roots = options.roots.filter((root) => !options.roots.some((one) => one !== root && isWithin(root, one)));
  const locks: FileLock[] = [];
  const giveBack = async () => {
    for (const lock of locks.splice(0)) await lock.release();
  };
  const claim = async (layers: readonly Layer[]) => {
    for (const { directory } of layers) {
      const { lock } = await acquireLock(directory, clock, lockWaitMs);
      if (!lock) throw refused("another galley process uses the view of this session");
      locks.push(lock);
    }
  };
  let chosen: ChosenLayers;
  try {
    chosen = await chooseLayers({ ...options, roots, limits, claim, giveBack });
  } catch (error) {
    await giveBack();
    throw error;
  }
  return new LayeredView({ ...options, roots, limits, log, clock }, chosen, giveBack);
}

type ViewOptions = Omit<StageViewOptions, "log" | "clock" | "limits"> & { log: Log; clock: Clock; limits: StageLimits };

class LayeredView implements StageView {
  readonly mechanism: ChosenLayers["mechanism"];
  readonly #options: ViewOptions;
  readonly #layers: readonly Layer[];
  readonly #giveBack: () => Promise<void>;
  readonly #kept: Map<Layer, readonly string[]>;
  /** The last command that was let in, until its view is released. */
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** A command runs, and could put a link where a kept file was looked for. */
  #isHeld = false;

  constructor(options: ViewOptions, { mechanism, layers }: ChosenLayers, giveBack: () => Promise<void>) {
    this.mechanism = mechanism;
    this.#options = options;
    this.#layers = layers;
    this.#giveBack = giveBack;
    this.#kept = new Map(layers.map((layer) => [layer, readKept(layer)]));
  }

  async open(staged: readonly StagedState[]): Promise<OpenView> {
    let leave = () => {};
    const before = this.#last;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    this.#isHeld = true;
    const end = () => {
      this.#isHeld = false;
      leave();
    };
    try {
      return await this.#openNow(staged, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async #openNow(staged: readonly StagedState[], leave: () => void): Promise<OpenView> {
    if (this.#isClosed) throw new GalleyError("unsupported", "The session's view is closed.");
    const { limits, clock, log, runInView, ignored = "keep", roots, cwd = roots[0] ?? "/" } = this.#options;
    const directoryMode = 0o777 & ~process.umask();
    const marker = `.galley-${randomBytes(16).toString("hex")}`;
    const marks = await this.#rebuild(staged, { directoryMode, marker });
    const holder = await this.#mount(marker);
    try {
      const place = (path: string) => join(`/proc/${holder.pid}/root`, path);
      if (this.mechanism === "overlay")
        for (const { root } of this.#layers) await deleteIn(place(root), root, stagedDeletions(staged));
      return openView({
        layers: this.#layers.map((layer) => ({
          layer,
          merged: place(layer.root),
          kept: this.#kept.get(layer) ?? [],
          marks: marks.get(layer),
        })),
        holder,
        staged,
        startNs: this.#startTime(),
        limits,
        ignored,
        cwd,
        directoryMode,
        clock,
        log,
        runInView,
        onKept: (layer, kept) => {
          this.#kept.set(layer, kept);
          writeKept(layer, kept);
        },
        onReleased: leave,
      });
    } catch (error) {
      await holder.end();
      throw error;
    }
  }

  /** Plans are the truth: what a former command left in the layer and is not staged goes. */
  async #rebuild(
    staged: readonly StagedState[],
    { directoryMode, marker }: { directoryMode: number; marker: string },
  ): Promise<Map<Layer, CopyMarks>> {
    const marks = new Map<Layer, CopyMarks>();
    const amount = { files: 0, bytes: 0 };
    for (const layer of this.#layers) {
      const before = this.#kept.get(layer) ?? [];
      await setAside(layer, before);
      if (this.mechanism === "copy") await copyTree(layer.root, layer.up, { amount, limits: this.#options.limits });
      const own = staged.filter(({ path }) => path !== layer.root && isWithin(path, layer.root));
      const kept = fillLayer({ layer, staged: own, kept: before, directoryMode, marker });
      this.#kept.set(layer, kept);
      await removeTree(layer.old);
      if (this.mechanism === "overlay") continue;
      await deleteIn(layer.up, layer.root, stagedDeletions(own));
      marks.set(layer, await copyMarks(layer.up, new Set(kept.map((name) => join(layer.up, withoutSlash(name))))));
    }
    return marks;
  }

  async #mount(marker: string): Promise<ViewHolder> {
    const mounts = this.#layers.map(({ directory, root }) => ({
      kind: this.mechanism,
      layer: directory,
      root,
      marker,
    }));
    try {
      return await this.#options.startHolder({ script: holderScript, args: mountArguments(mounts) });
    } catch (error) {
      throw refused(messageOf(error));
    }
  }

  /** Of a file that is made right before the command: the file system's own clock. */
  #startTime(): bigint {
    const marker = join(this.#layers[0]?.directory ?? "", "started");
    writeFileSync(marker, "x");
    return entryAt(marker)?.ctimeNs ?? 0n;
  }

  keptFile(path: string): string | undefined {
    if (this.#isHeld) return undefined;
    const layer = this.#layers.find(({ root }) => path !== root && isWithin(path, root));
    return layer && keptFileIn(layer, this.#kept.get(layer) ?? [], path);
  }

  keptPaths(): readonly string[] {
    if (this.#isHeld) return [];
    return this.#layers.flatMap((layer) => keptPathsIn(layer, this.#kept.get(layer) ?? []));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#last;
    this.#isClosed = true;
    try {
      const isKept = await this.#options.hasPending?.();
      // What overlayfs leaves there has no permissions: a user's own `rm -r` would fail.
      for (const { directory, work } of this.#layers)
        if (isKept) await removeTree(join(work, "work"));
        else await removeLayer(directory);
    } catch (error) {
      this.#options.log.warn(`The staged view could not be removed: ${messageOf(error)}`);
    } finally {
      await this.#giveBack();
    }
  }
}

// The list of ignored files that are in the view only. It is stored with the layer, because the layer of a session with
// pending actions outlives its process.

const maxListed = 100_000;

/** Names below the root; a directory's ends with a slash and stands for all that is in it. Empty where none is stored. */
function readKept({ directory }: Layer): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, "kept.json"), "utf8"));
    return Array.isArray(value) ? value.filter(isPlainName) : [];
  } catch {
    return []; // there is none yet, or it was cut: then nothing is kept
  }
}

function writeKept({ directory }: Layer, kept: readonly string[]): void {
  const path = join(directory, "kept.json");
  writeFileSync(`${path}.new`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function isPlainName(name: unknown): name is string {
  if (typeof name !== "string" || name === "" || name.startsWith("/")) return false;
  return withoutSlash(name)
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");
}

/** Where a kept file can be read; undefined for what is none, or lies behind a link. */
function keptFileIn(layer: Layer, kept: readonly string[], path: string): string | undefined {
  const name = relative(layer.root, path);
  const isKept = kept.some((one) => (one.endsWith("/") ? name.startsWith(one) : name === one));
  if (!isKept) return undefined;
  const place = inLayer(layer, path);
  return isInside(layer.up, name) && entryAt(place)?.kind === "file" ? place : undefined;
}

/** All kept files of a layer, as paths of the root. A long list is cut. */
function keptPathsIn(layer: Layer, kept: readonly string[]): string[] {
  const paths: string[] = [];
  const add = (path: string) => {
    const place = inLayer(layer, path);
    const kind = entryAt(place)?.kind;
    if (kind === "file") paths.push(path);
    if (kind !== "directory") return;
    for (const name of readableNames(place)) if (paths.length < maxListed) add(join(path, name));
  };
  for (const name of kept.map(withoutSlash)) if (isInside(layer.up, name)) add(join(layer.root, name));
  return paths.sort();
}

function readableNames(place: string): readonly string[] {
  try {
    return namesIn(place).names;
  } catch {
    return []; // a directory that its owner may not read has nothing for tools either
  }
}
