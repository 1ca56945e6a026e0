// What modules are given, by name, taken from the very objects that a session makes: for a check that runs without one.

import { GalleyError } from "../../base/errors.js";
import { createToolContext } from "../../extensions/api/custom-tool-context.js";
import { createLiveUI, uiMembers } from "../../extensions/api/custom-tool-ui.js";
import { EventBus } from "../../extensions/api/event-bus.js";
import { createExtensionApi } from "../../extensions/api/extension-api.js";
import { createCommandContext } from "../../extensions/api/extension-context.js";
import { ExtensionRegistrations } from "../../extensions/api/extension-registrations.js";
import { createToolApi, createToolLogger } from "../../extensions/api/tool-api.js";
import { isHostModule, VirtualModules } from "../../extensions/compat/virtual-modules.js";
import type { LoadDeps } from "../../extensions/load/load.js";
import type { KnownNames } from "../../extensions/load/unknown-names.js";
import { createToolHost, type ExtensionHostDeps } from "./extension-host.js";

/** `components`: of a terminal, which adds to what modules find under the name of the component library. */
export function knownNames(
  kind: "tool" | "extension",
  loading: LoadDeps,
  components: () => Promise<object>,
): KnownNames {
  const { cwd, log } = loading;
  const logger = createToolLogger(log);
  const virtual = new VirtualModules({ ...loading.hostModules, tui: components }, logger);
  const live = createLiveUI(loading);
  const common = createToolApi({ ...loading, live, logger, virtual });
  const host = (): never => {
    throw new GalleyError("unsupported", "There is no session here.");
  };
  const extension = new ExtensionRegistrations({ path: "", realPath: "", needsTrust: false });
  const extensionApi = createExtensionApi({
    extension,
    common,
    log,
    host,
    builtInCommands: [],
    flagValues: new Map(),
    boundHost: () => undefined,
    bus: new EventBus(),
    guard() {},
    onSendFailure() {},
  });
  // Its members are made at once and ask the session only when they are called.
  const toolHost = createToolHost({ session: { cwd } } as ExtensionHostDeps);
  const [api, context] =
    kind === "tool"
      ? [common, createToolContext(toolHost, live)]
      : [extensionApi, createCommandContext({ cwd, live, host })];
  const { sessionManager, modelRegistry, pending } = toolHost;
  return {
    api: {
      members: Object.keys(api),
      inner: { ui: uiMembers, events: Object.keys(extensionApi.events), logger: Object.keys(logger) },
    },
    context: {
      members: Object.keys(context),
      inner: {
        ui: uiMembers,
        sessionManager: Object.keys(sessionManager),
        modelRegistry: Object.keys(modelRegistry),
        pending: Object.keys(pending),
      },
    },
    async exportsOf(specifier) {
      return isHostModule(specifier) ? Object.keys(await virtual.load(specifier)) : undefined;
    },
  };
}
