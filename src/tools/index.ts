// The built-in tools. Making them costs nothing: what is heavy is loaded by the first call that needs it.

import type { Workspace } from "../workspace/workspace.js";
import { type AstEditOptions, createAstEdit } from "./ast-edit.js";
import { createRead } from "./read.js";
import { createTodoWrite, type TodoStore } from "./todo-write.js";
import type { AnyTool } from "./tool.js";

export interface BuiltInToolParts {
  readonly workspace: Workspace;
  readonly todos: TodoStore;
  /** The session, and so the todo list, is kept in a file. */
  readonly isPersistent: boolean;
  readonly astEdit?: AstEditOptions;
}

export function createBuiltInTools({ workspace, todos, isPersistent, astEdit }: BuiltInToolParts): AnyTool[] {
  return [
    createRead(workspace),
    createAstEdit(workspace, astEdit),
    createTodoWrite({ store: todos, storage: () => (isPersistent ? "session" : "memory") }),
  ];
}
