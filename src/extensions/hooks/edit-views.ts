// A call of `edit` as handlers of pi see it: one file, named at the top, with `oldText` and `newText`. A call that edits
// several files is shown once for each: a guard that looks at `input.path` must see every file. The members of our own
// form stand beside those of pi, and what a handler changes of either counts.

import { isObject } from "../../base/json.js";

type Arguments = Record<string, unknown>;

interface Edit extends Arguments {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
}

/** Undefined for a call that has not this form: it is shown as it is. */
export function editViews(toolName: string, { edits }: Arguments): Arguments[] | undefined {
  if (toolName !== "edit" || !Array.isArray(edits) || edits.length === 0 || !edits.every(isEdit)) return undefined;
  const paths = [...new Set(edits.map(({ path }) => path))];
  return paths.map((path) => ({
    path,
    edits: edits
      .filter((edit) => edit.path === path)
      .map((edit) => ({ ...edit, oldText: edit.old_text, newText: edit.new_text })),
  }));
}

/** The arguments that these views, as handlers left them, stand for. */
export function editArguments(shown: readonly Arguments[], left: readonly Arguments[]): Arguments {
  return {
    edits: left.flatMap((view, index) => {
      const before = shown[index] as { readonly path: string; readonly edits: readonly Arguments[] };
      if (!Array.isArray(view.edits)) return [view.edits]; // the check of the arguments names the fault
      const isMoved = view.path !== before.path;
      return view.edits.map((edit: unknown, at) => {
        if (!isObject(edit)) return edit;
        const { oldText, newText, ...own } = edit;
        const was = before.edits[at];
        const chosen = (theirs: unknown, ours: unknown, old: unknown) =>
          theirs === undefined || theirs === old ? ours : theirs;
        return {
          ...own,
          path: isMoved ? view.path : (own.path ?? view.path),
          old_text: chosen(oldText, own.old_text, was?.oldText),
          new_text: chosen(newText, own.new_text, was?.newText),
        };
      });
    }),
  };
}

function isEdit(edit: unknown): edit is Edit {
  if (!isObject(edit)) return false;
  return [edit.path, edit.old_text, edit.new_text].every((member) => typeof member === "string");
}
