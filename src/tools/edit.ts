// The edit tool: texts replaced in one or more files, however a model spells it.

import type { XStatic } from "typebox/schema";
import { isObject } from "../base/json.js";
import { type EditParts, editFiles } from "./edit-files.js";
import type { AgentTool } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    edits: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          path: { type: "string" },
          old_text: { type: "string", description: "Exact; must occur once" },
          new_text: { type: "string" },
          all: { type: "boolean", description: "Every occurrence" },
        },
        required: ["path", "old_text", "new_text"],
      },
    },
  },
  required: ["edits"],
} as const;

type EditParams = XStatic<typeof parameters>;

export function createEdit(parts: EditParts): AgentTool<EditParams> {
  return {
    name: "edit",
    label: "Edit",
    description: "Replace exact text in files, in order. If one edit fails, no file is changed.",
    parameters,
    approval: "write",
    prepareArguments,
    execute: (toolCallId, { edits }, signal) => editFiles(parts, edits, { toolCallId, signal }),
  };
}

/** One edit spelled at the top is a list of one, unless there is a list. Entries may leave the path to the top. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { edits } = args;
  if (!Array.isArray(edits)) return edits === undefined ? { edits: [published(args)] } : args;
  const { path } = published(args);
  return { edits: edits.map((edit) => (isObject(edit) ? { ...(path ? { path } : {}), ...published(edit) } : edit)) };
}

const spellings = {
  path: ["path", "file_path"],
  old_text: ["old_text", "oldText", "old_string"],
  new_text: ["new_text", "newText", "new_string"],
  all: ["all", "replace_all"],
};

function published(args: Record<string, unknown>): Record<string, unknown> {
  const found = Object.entries(spellings).map(([name, others]) => {
    const spelling = others.find((other) => args[other] !== undefined && args[other] !== null);
    return spelling === undefined ? [] : [[name, args[spelling]] as const];
  });
  return Object.fromEntries(found.flat());
}
