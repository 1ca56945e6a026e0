// The edit tool: texts replaced in one or more files. Everything is computed before anything is written, and several
// files are written all or none, so that whatever fails leaves every file as it was.

import type { XStatic } from "typebox/schema";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { holdFiles } from "../files/disk/hold-files.js";
import type { Workspace, WriteTarget } from "../files/workspace.js";
import { diffFile, joinDiffs } from "../plans/diff/file-diff.js";
import { notice } from "./output/text.js";
import { type ComputedEdit, computeEdit, type EditLeniency, type TextEdit } from "./text/compute-edit.js";
import {
  applyText,
  type OpenFile,
  openText,
  stagedText,
  stageText,
  type TextChange,
  type TextFileDeps,
  writeNoted,
} from "./text/text-file.js";
import { type AgentTool, textResult, toolFailure } from "./tool.js";

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

type EditDeps = TextFileDeps & EditLeniency;

export function createEdit(deps: EditDeps): AgentTool<EditParams> {
  const { workspace } = deps;
  return {
    name: "edit",
    label: "Edit",
    description: "Replace exact text in files, in order. If one fails, nothing is changed.",
    parameters,
    approval: "write",
    prepareArguments,
    async execute(toolCallId, { edits }, signal) {
      if (edits.length === 0) throw toolFailure("`edits` must include at least one edit.");
      if (edits.some(({ old_text }) => old_text === "")) throw toolFailure("old_text must not be empty.");
      const tasks = await groupByFile(workspace, edits);
      const targets = tasks.map(({ target }) => target);
      return holdFiles(workspace, targets, async () => {
        const changes: Change[] = [];
        for (const task of tasks) changes.push(await compute(deps, task, { signal, total: edits.length }));
        throwIfAborted(signal);
        const paths = changes.map(({ file }) => file.target.displayPath).join(", ");
        const what = { label: `Edit: ${paths}`, sourceToolName: "edit" };
        if (deps.staging.mode() === "all") {
          const { details } = report(changes);
          const { diff } = details as { diff: string };
          const id = await stageText(deps, textsOf(changes), { ...what, toolCallId, diff });
          return textResult(stagedText(id, paths), { ...(details as object), pendingId: id });
        }
        return report(await writeAll(deps, changes, what));
      });
    },
  };
}

/** The edits of one file, in the order in which they were given. */
interface FileTask {
  /** The path as the model wrote it first. */
  readonly input: string;
  readonly target: WriteTarget;
  readonly edits: (TextEdit & { readonly position: number })[];
}

interface Change {
  readonly file: OpenFile & Required<Pick<OpenFile, "before">>;
  readonly computed: ComputedEdit;
}

/** Two spellings of a path are one file. */
async function groupByFile(workspace: Workspace, edits: EditParams["edits"]): Promise<FileTask[]> {
  const byInput = new Map<string, WriteTarget>();
  const byPath = new Map<string, FileTask>();
  for (const [index, { path: input, old_text: oldText, new_text: newText, all = false }] of edits.entries()) {
    const target = byInput.get(input) ?? (await workspace.resolve(input, "write"));
    byInput.set(input, target);
    const task = byPath.get(target.path) ?? { input, target, edits: [] };
    byPath.set(target.path, task);
    task.edits.push({ oldText, newText, all, position: index + 1 });
  }
  return [...byPath.values()];
}

async function compute(
  deps: EditDeps,
  { input, target, edits }: FileTask,
  { signal, total }: { signal: AbortSignal | undefined; total: number },
): Promise<Change> {
  try {
    const { before, ...file } = await openText(deps, { input, target }, signal);
    const { displayPath } = file.target;
    if (!before) throw new GalleyError("not_found", `File not found: ${displayPath}`);
    return { file: { ...file, before }, computed: await computeEdit(displayPath, before.bytes, edits, deps) };
  } catch (error) {
    // With several edits the model must know that none of them was made.
    if (total === 1 || !(error instanceof GalleyError) || error.code === "aborted") throw error;
    const failed = edits[Number(error.details?.failedEdit)];
    const which = failed ? `Edit ${failed.position} of ${total} failed. ` : "";
    throw new GalleyError(error.code, `${error.message}\n\n${which}No file was changed.`, { cause: error });
  }
}

interface Written extends Change {
  readonly hardlinkBroken?: true;
}

/** One file at once, several through the journal: half of them would be worse than none. */
async function writeAll(
  deps: TextFileDeps,
  changes: readonly Change[],
  what: { label: string; sourceToolName: string },
): Promise<Written[]> {
  const texts = textsOf(changes);
  const [first, ...others] = texts;
  if (first && others.length === 0) {
    const { hardlinkBroken } = await writeNoted(deps, first, what);
    return changes.map((change) => (hardlinkBroken ? { ...change, hardlinkBroken } : change));
  }
  const { hardlinkBroken: broken = [] } = await applyText(deps, texts, what);
  return changes.map((change) =>
    broken.includes(change.file.target.displayPath) ? { ...change, hardlinkBroken: true } : change,
  );
}

function textsOf(changes: readonly Change[]): TextChange[] {
  return changes.map(({ file, computed }) => ({ file, after: computed.after }));
}

function report(written: readonly Written[]) {
  const perFileResults = written.map(({ file: { target, before }, computed, hardlinkBroken }) => ({
    path: target.displayPath,
    ...diffFile({ displayPath: target.displayPath, before: before.bytes, ...computed }),
    replaced: computed.replaced,
    ...(hardlinkBroken ? { hardlinkBroken } : {}),
  }));
  const text = perFileResults.map(({ path, replaced }, index) => {
    const done = replaced === 1 ? "text" : `${replaced} occurrences`;
    const looseLines = written[index]?.computed.looseLines ?? [];
    const remarks = looseLines.map((line) => `From line ${line} on, space or look-alikes differ from old_text`);
    return `Successfully replaced ${done} in ${path}.${notice(remarks)}`;
  });
  return textResult(text.join("\n"), {
    diff: joinDiffs(perFileResults.map(({ diff }) => diff)),
    firstChangedLine: perFileResults[0]?.firstChangedLine,
    ...(written.some(({ hardlinkBroken }) => hardlinkBroken) ? { hardlinkBroken: true } : {}),
    ...(perFileResults.length > 1 ? { perFileResults } : {}),
  });
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
