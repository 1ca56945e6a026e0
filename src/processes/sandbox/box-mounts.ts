// From the rules of a box to the mounts of one command, looked up at this moment: what is hidden, private and writable.

import { worktreeRepositories } from "../../files/git-worktree.js";
import { isWithin } from "../../files/paths/resolve-path.js";
import type { BoxRules } from "./box.js";
import { entryAt, findHidden, type MachinePlaces, nameServerFile } from "./hidden-paths.js";
import { type Cover, type MountStep, planMounts } from "./mount-plan.js";
import type { ProtectedPlaces } from "./protected-places.js";
import { findSockets } from "./unix-sockets.js";

export interface BoxMounts {
  readonly rules: BoxRules;
  readonly machine: MachinePlaces;
  readonly cwd: string;
  readonly gitDirectories: readonly string[];
  readonly places: ProtectedPlaces;
  readonly node: string;
}

/** What git must write outside of the roots, for linked worktrees. In a staged view it is one of the roots. */
export function worktreeDirectories({ mode, roots, viewHolder }: BoxRules): string[] {
  return mode === "read-only" || viewHolder !== undefined ? [] : worktreeRepositories(roots);
}

export function planBox({ rules, machine, cwd, gitDirectories, places, node }: BoxMounts): MountStep[] {
  const isWritable = rules.mode === "workspace";
  const exists = existsInView(rules);
  const steps = planMounts({
    privateDirectories: machine.temporary,
    hidden: findHidden(rules, machine).filter(exists),
    shown: [
      ...[...machine.homes, rules.home, ...machine.shown, ...rules.show].filter((path) => exists({ path })),
      ...(isWritable ? [] : rules.roots),
      ...(rules.network === "on" ? nameServerFile() : []),
      ...(typeof rules.network === "object" ? [node] : []),
    ],
    writable: [...(isWritable ? [...rules.roots, ...gitDirectories] : []), rules.tempDir],
    ...places,
  });
  const isVisible = (path: string) => {
    const around = steps.findLast((step) => isWithin(path, step.path));
    return (around === undefined || around.kind === "bind") && !rules.show.some((shown) => isWithin(path, shown));
  };
  // Last, as nothing is mounted below a socket.
  const sockets = findSockets(isVisible, [cwd, ...rules.roots, rules.home]).map(
    (path): Cover => ({ path, type: "socket" }),
  );
  return [...steps, ...sockets.filter(exists).map((cover): MountStep => ({ kind: "cover", ...cover }))];
}

/** What was deleted in the view has no place to be mounted on, and bubblewrap would make one there. */
function existsInView({ roots, viewHolder }: BoxRules): (place: { readonly path: string }) => boolean {
  return ({ path }) => {
    const isInView = viewHolder !== undefined && roots.some((root) => isWithin(path, root));
    return entryAt(isInView ? `/proc/${viewHolder}/root${path}` : path) !== undefined;
  };
}
