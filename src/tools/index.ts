// The built-in tools. Making them costs nothing: what is heavy is loaded by the first call that needs it.

import type { Workspace } from "../workspace/workspace.js";
import { type AstEditOptions, createAstEdit } from "./ast-edit.js";
import { createRead } from "./read.js";
import type { AnyTool } from "./tool.js";

export function createBuiltInTools(workspace: Workspace, options: { astEdit?: AstEditOptions } = {}): AnyTool[] {
  return [createRead(workspace), createAstEdit(workspace, options.astEdit)];
}
