// Staged views as one plain module.

import { buildModule } from "../kit/build-module.mjs";

/** Answers the path of a module that exports what the fault runs use of them. */
export function buildLayerModule(directory) {
  const contents = `
    export { createStageView } from "./create-stage-view.ts";
    export { cleanLayers, listLayers } from "./clean-layers.ts";
    export { createViewProcesses } from "../../processes/sandbox/view-holder.ts";`;
  return buildModule(directory, { name: "layer", contents, folder: "files/layer" });
}
