// The todo_write tool: the model's own list of what is left to do. The session owns the list and restores it from the
// results of this tool; here are only the texts and the schema.

import type { XStatic } from "typebox/schema";
import type { JsonSchema } from "../base/json.js";
import type { TodoPhase } from "../protocol/todos.js";
import { type AgentTool, textResult } from "./tool.js";

const text = { type: "string", pattern: "\\S", maxLength: 2000 } as const;
const longText = { type: "string", maxLength: 8000 } as const;
const status = { type: "string", enum: ["pending", "in_progress", "completed", "abandoned"] } as const;
const tasks = {
  type: "array",
  maxItems: 200,
  items: {
    type: "object",
    properties: { content: text, status, notes: longText, details: longText },
    required: ["content"],
  },
} as const;

/** What a model is told about a task within a list; notes and details are for single tasks, and taken here as well. */
const shownTasks = {
  type: "array",
  items: {
    type: "object",
    properties: { content: { type: "string" }, status: { type: "string" } },
    required: ["content"],
  },
} as const;

const parameters = {
  type: "object",
  properties: {
    ops: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          op: {
            type: "string",
            enum: ["replace", "add_phase", "add_task", "update", "remove_task"],
            description:
              "replace {phases}; add_phase {name, tasks?}; add_task {phase, content}; update {id, …}; remove_task {id}",
          },
          phases: {
            type: "array",
            maxItems: 50,
            items: { type: "object", properties: { name: text, tasks }, required: ["name"] },
          },
          name: text,
          tasks,
          phase: { type: "string", description: "e.g. phase-1" },
          id: { type: "string", description: "e.g. task-1" },
          content: text,
          status,
          notes: longText,
          details: longText,
        },
        required: ["op"],
      },
    },
  },
  required: ["ops"],
} as const;

function shown({ properties: { ops }, ...rest }: typeof parameters): JsonSchema {
  const { phases, ...others } = ops.items.properties;
  const shownPhases = { ...phases, items: { ...phases.items, properties: { name: text, tasks: shownTasks } } };
  const items = { ...ops.items, properties: { ...others, phases: shownPhases, tasks: shownTasks } };
  return { ...rest, properties: { ops: { ...ops, items } } };
}

type TodoWriteParams = XStatic<typeof parameters>;

/** The session's list. Every operation that can be applied is; the text says what could not. */
export interface TodoStore {
  get(): TodoPhase[];
  applyOps(ops: TodoWriteParams["ops"]): string;
}

export interface TodoWriteOptions {
  readonly store: TodoStore;
  /** Whether the results, and so the list, are kept in a file. */
  storage(): "session" | "memory";
}

export function createTodoWrite({ store, storage }: TodoWriteOptions): AgentTool<TodoWriteParams> {
  return {
    name: "todo_write",
    label: "Todo",
    description: "Keep a task list in phases. One task is in_progress; complete it once done.",
    parameters,
    published: shown(parameters),
    concurrency: "exclusive",
    approval: "read",
    async execute(_toolCallId, { ops }) {
      const answer = store.applyOps(ops);
      return textResult(answer, { phases: store.get(), storage: storage() });
    },
  };
}
