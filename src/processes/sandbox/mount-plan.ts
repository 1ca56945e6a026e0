// What a confined command sees of the disk, as a list of steps in the order in which they are mounted: parents first, so
// that the deeper path wins. Pure; both mechanisms on Linux carry it out.

/** All paths are absolute, canonical and exist, besides `covers` of the protected kind, which the caller has made. */
export interface MountRequest {
  /** Empty and writable, for one command. */
  readonly privateDirectories: readonly string[];
  readonly hidden: readonly Cover[];
  /** Visible, read-only, where something hidden or private lies around it. */
  readonly shown: readonly string[];
  readonly writable: readonly string[];
  /** Below something writable: neither it nor what it contains can be changed. */
  readonly readOnly: readonly string[];
  /** Below something writable: it can be written, and neither renamed nor replaced. */
  readonly pinned: readonly string[];
  /** Below something writable: an empty directory that cannot be changed. */
  readonly stubs: readonly string[];
}

export interface Cover {
  readonly path: string;
  readonly type: "directory" | "file" | "socket";
}

export type MountStep =
  /** A new empty file system. `isWritable: false`: from the last step on. */
  | { readonly kind: "empty"; readonly path: string; readonly isWritable: boolean }
  | { readonly kind: "cover"; readonly path: string; readonly type: Cover["type"] }
  | { readonly kind: "bind"; readonly path: string; readonly isWritable: boolean }
  | { readonly kind: "devices" | "processes"; readonly path: string };

type Wish =
  | { readonly kind: "private" | "show" | "write" | "freeze" | "pin" | "devices" | "processes" }
  | { readonly kind: "hide"; readonly type: Cover["type"] };

export function planMounts(request: MountRequest): MountStep[] {
  const wishes = collectWishes(request);
  const steps: MountStep[] = [];
  for (const [path, wish] of wishes) {
    const around = steps.findLast((step) => isWithin(path, step.path));
    const step = stepFor(path, wish, around);
    if (step !== undefined) steps.push(step);
  }
  // What is visible inside of something hidden needs a place to be mounted on, which only a file system of its own has.
  return steps.map((step) =>
    step.kind === "cover" && step.type === "directory" && steps.some((other) => isBelow(other.path, step.path))
      ? { kind: "empty", path: step.path, isWritable: false }
      : step,
  );
}

/** Sorted by path, so that parents come first. For one path the last wish holds: to hide wins. */
function collectWishes(request: MountRequest): [string, Wish][] {
  const wishes = new Map<string, Wish>([
    ["/dev", { kind: "devices" }],
    ["/proc", { kind: "processes" }],
  ]);
  const add = (paths: readonly string[], wish: Wish) => {
    for (const path of paths) if (path !== "/") wishes.set(path, wish);
  };
  add(request.privateDirectories, { kind: "private" });
  add(request.shown, { kind: "show" });
  add(request.pinned, { kind: "pin" });
  add(request.writable, { kind: "write" });
  add(request.readOnly, { kind: "freeze" });
  for (const path of request.stubs) wishes.set(path, { kind: "hide", type: "directory" });
  for (const { path, type } of request.hidden) if (path !== "/") wishes.set(path, { kind: "hide", type });
  return [...wishes].sort(([a], [b]) => compareComponents(a, b));
}

/** `around`: the nearest step that contains the path; none is the read-only root. */
function stepFor(path: string, wish: Wish, around: MountStep | undefined): MountStep | undefined {
  const isCovered = around !== undefined && around.kind !== "bind";
  const isWritable = around?.kind === "bind" && around.isWritable;
  switch (wish.kind) {
    case "devices":
    case "processes":
      return { kind: wish.kind, path };
    case "private":
      return isCovered || isWritable ? undefined : { kind: "empty", path, isWritable: true };
    case "hide":
      return isCovered ? undefined : { kind: "cover", path, type: wish.type };
    case "show":
      return isCovered ? { kind: "bind", path, isWritable: false } : undefined;
    case "write":
      return { kind: "bind", path, isWritable: true };
    case "pin":
      return isWritable ? { kind: "bind", path, isWritable: true } : undefined;
    case "freeze":
      return isWritable ? { kind: "bind", path, isWritable: false } : undefined;
  }
}

/** By text, because the paths are canonical. */
function isWithin(path: string, directory: string): boolean {
  return path === directory || isBelow(path, directory);
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory === "/" ? "/" : `${directory}/`) && path !== directory;
}

function compareComponents(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [x, y] = [left[index] as string, right[index] as string];
    if (x !== y) return x < y ? -1 : 1;
  }
  return left.length - right.length;
}
