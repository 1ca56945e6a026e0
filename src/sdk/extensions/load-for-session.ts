// The load of a session's modules, with what it needs of the session.

import type { ExtensionManagerDeps } from "./extension-manager-deps.js";
import { createExtensionPending } from "./extension-pending.js";
import type { ExtensionReports } from "./extension-reports.js";
import {
  type ExtensionOptions,
  type LoadedSessionExtensions,
  type LoadSessionExtensionsDeps,
  loadSessionExtensions,
} from "./load-session-extensions.js";

type Kept = Pick<LoadSessionExtensionsDeps, "clock" | "live" | "memory" | "builtInToolNames"> & {
  readonly reports: ExtensionReports;
};

export function loadForSession(
  deps: ExtensionManagerDeps,
  { reports, ...kept }: Kept,
  options: ExtensionOptions,
): Promise<LoadedSessionExtensions> {
  const { workspace, changes } = deps;
  const session = deps.session();
  const [push, nextId] = [session.stagePendingAction.bind(session), session.nextPendingId.bind(session)];
  return loadSessionExtensions(
    {
      ...deps,
      ...kept,
      pending: createExtensionPending({ workspace, changes, push, nextId }),
      onError: (failure) => reports.failed(failure),
      onSendFailure: ({ command, error }) => reports.send({ type: "response", command, success: false, error }),
    },
    options,
  );
}

/** False: the flags of the command line do not fit. */
export function setFlags({ extensions }: LoadedSessionExtensions, { resolveFlags }: ExtensionOptions): boolean {
  if (!resolveFlags) return true;
  const runner = extensions?.runner;
  const values = resolveFlags(runner?.flags() ?? new Map());
  for (const [name, value] of values ?? []) runner?.flagValues.set(name, value);
  return values !== undefined;
}
