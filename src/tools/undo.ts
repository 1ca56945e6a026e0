// The undo tool: stages the opposite of a change that was applied, to be decided like any preview.

import type { XStatic } from "typebox/schema";
import type { PendingAction } from "../protocol/pending.js";
import { type AgentTool, textResult } from "./tool.js";

const parameters = {
  type: "object",
  properties: { id: { type: "string", description: "A change, e.g. ch_1a2b3c4d; default: the newest" } },
} as const;

type UndoParams = XStatic<typeof parameters>;

/** Throws where nothing can be undone. */
export type StageUndo = (request: { changeId?: string; toolCallId: string }) => Promise<{ action: PendingAction }>;

export function createUndo(stage: StageUndo, { hidden }: { hidden: boolean }): AgentTool<UndoParams> {
  return {
    name: "undo",
    label: "Undo",
    description: "Stage the opposite of an applied change. Files are not modified until it is resolved.",
    parameters,
    hidden,
    deferrable: true,
    approval: "write",
    async execute(toolCallId, { id }) {
      const { action } = await stage({ toolCallId, changeId: id });
      const files = action.files?.map(({ path }) => `  ${path}`).join("\n") ?? "";
      const text = `Staged as ${action.id} – files NOT modified. Call resolve to apply or discard.\n\n${action.label}\n${files}`;
      return textResult(text, { pendingId: action.id, label: action.label });
    },
  };
}
