// The write tool: creates or replaces a whole file.

import type { XStatic } from "typebox/schema";
import { throwIfAborted } from "../base/abort.js";
import { compareTexts } from "../plans/diff/compare-texts.js";
import { diffFile } from "../plans/diff/file-diff.js";
import { notice } from "./output/text.js";
import { computeWrite } from "./text/keep-form.js";
import { openText, stagedText, stageText, type TextFileDeps, writeNoted } from "./text/text-file.js";
import { isUtf16 } from "./text/text-view.js";
import { type AgentTool, textResult, toolFailure } from "./tool.js";

const parameters = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
} as const;

type WriteParams = XStatic<typeof parameters>;

export function createWrite(deps: TextFileDeps): AgentTool<WriteParams> {
  const { workspace } = deps;
  return {
    name: "write",
    label: "Write",
    description: "Create or overwrite a file. To change parts use edit.",
    parameters,
    approval: "write",
    prepareArguments,
    async execute(toolCallId, { path, content }, signal) {
      const target = await workspace.resolve(path, "write");
      return workspace.exclusively(target, async () => {
        const file = await openText(deps, { input: path, target }, signal);
        const before = file.before?.bytes;
        const { displayPath } = file.target;
        if (before && isUtf16(before))
          throw toolFailure(`Cannot overwrite ${displayPath}: it is UTF-16 text, and only UTF-8 can be written.`);
        const { after, kept } = computeWrite(before, content);
        throwIfAborted(signal);
        const diff = before && (await wholeDiff(displayPath, before, after));
        const what = { label: `Write: ${displayPath}`, sourceToolName: "write" };
        if (deps.staging.mode() === "all") {
          const told = diff === undefined ? {} : { diff };
          const id = await stageText(deps, [{ file, after }], { ...what, toolCallId, ...told });
          return textResult(stagedText(id, displayPath), { ...told, created: !before, pendingId: id });
        }
        const outcome = await writeNoted(deps, { file, after }, what);
        const remarks = kept.length > 0 ? [`Kept from the old file: ${kept.join(", ")}`] : [];
        return textResult(`Successfully wrote ${after.length} bytes to ${displayPath}${notice(remarks)}`, {
          diff,
          ...outcome,
        });
      });
    },
  };
}

function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { file_path, ...rest } = args;
  return rest.path === undefined && file_path !== undefined ? { ...rest, path: file_path } : rest;
}

/** Undefined where nothing changed. */
async function wholeDiff(displayPath: string, before: Buffer, after: Buffer): Promise<string | undefined> {
  const replacements = await compareTexts(before, after);
  if (replacements.length === 0) return undefined;
  const spans = replacements.map(({ start, end, newStart, newEnd }) => ({ start, end, length: newEnd - newStart }));
  return diffFile({ displayPath, before, after, spans }).diff;
}
