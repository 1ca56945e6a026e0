// The sandbox and the view of this machine.

import { GalleyError } from "../../base/errors.js";
import type { StageView } from "../../files/layer/stage-view.js";
import type { Processes } from "../../processes/processes.js";
import type { Sandbox } from "../../processes/sandbox/box.js";
import type { SandboxEnvironment, ViewRequest } from "./create-confinement.js";

export async function systemSandbox(_e: SandboxEnvironment, _p: Processes | undefined): Promise<Sandbox> {
  return {
    probe: async () => ({ mechanism: "none", reason: "This version has no sandbox." }),
    box: async () => {
      throw new GalleyError("unsupported", "This version has no sandbox.");
    },
  };
}

export async function systemView(_request: ViewRequest): Promise<StageView> {
  throw new GalleyError("unsupported", "Staging commands is not possible here: This version has no sandbox.", {
    details: { reason: "This version has no sandbox." },
  });
}
