// What extensions are given where there is no session: when tools are listed or checked. Every member exists, so that a
// module loads as it would in a session, and what needs a session refuses.

import { systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { ConfigLocation } from "../../config/survey-extensions.js";
import type { HostModules } from "../../extensions/compat/virtual-modules.js";
import type { Processes } from "../../processes/processes.js";
import type { BuiltInToolDeps } from "../../tools/index.js";
import { createToolResources, toolSettingsOf } from "../tool-resources.js";
import type { ToolMakerDeps } from "./tool-makers.js";

export function sessionlessHostModules(
  location: ConfigLocation & { readonly log: Log },
  processes: Processes,
): HostModules {
  const { cwd, agentDir, settings } = location;
  return {
    async galley() {
      const [{ createBuiltInTools }, { extensionExports }] = await Promise.all([
        import("../../tools/index.js"),
        import("./extension-exports.js"),
      ]);
      const toolsIn: ToolMakerDeps["toolsIn"] = (elsewhere, instead) => {
        const access = createToolResources(
          { ...location, cwd: elsewhere, clock: systemClock },
          { processes, ...instead },
        );
        const own = { clock: systemClock, isPersistent: false, settings: toolSettingsOf(settings, location.env) };
        return createBuiltInTools({ ...access, ...ofSession, ...own });
      };
      const parts = { contextFiles: [], skills: [] };
      const own = { ...location, cwd, agentDir, settings, clock: systemClock, processes, promptParts: () => parts };
      return extensionExports({ ...own, stream: refuse, astEdit: async () => refuse(), toolsIn });
    },
    async ai() {
      const [{ findSessionModels }, { modelFunctions }] = await Promise.all([
        import("../session-models.js"),
        import("../pi-modules/model-functions.js"),
      ]);
      const { source } = await findSessionModels({}, location);
      return modelFunctions({ models: source, stream: refuse, direct: refuse, clock: systemClock });
    },
  };
}

function refuse(): never {
  throw new GalleyError("unsupported", "There is no session here.");
}

const ofSession: Pick<BuiltInToolDeps, "artifacts" | "staging" | "todos"> = {
  artifacts: { open: refuse, readBytes: refuse },
  staging: {
    mode: () => "auto",
    stage: refuse,
    staged: () => [],
    stagedPaths: () => [],
    note: refuse,
    wrote: refuse,
    applyNow: refuse,
  },
  todos: { get: () => [], applyOps: refuse },
};
