// The tools every session has.

import type { Workspace } from "../workspace/workspace.js";
import { createRead } from "./read.js";
import type { AnyTool } from "./tool.js";

export function createBuiltInTools(workspace: Workspace): AnyTool[] {
  return [createRead(workspace)];
}
