// Which files of the project commands and custom tools changed: they write without telling. The files are compared as
// they were before the first such call and as they are at the end.
//
// Not covered: what `.gitignore` names, `node_modules`, `.git`, links, everything outside the project, and what
// extensions do outside of tool calls. Another program that writes meanwhile is taken for the command.

import { messageOf } from "../../base/errors.js";
import { type FileStamps, stampFiles } from "../../files/walk/file-stamps.js";
import { shownInProject } from "../review/listed-action.js";

export interface ChangedFile {
  readonly path: string;
  readonly shownPath: string;
  readonly kind: "create" | "modify" | "delete";
}

export type ChangedBesides =
  /** No call was made that may write on its own. */
  | { readonly kind: "none" }
  | { readonly kind: "compared"; readonly files: readonly ChangedFile[] }
  /** The reason why it is not known. */
  | { readonly kind: "unknown"; readonly reason: string };

/** A larger project would hold up its first command for too long. */
const maxFiles = 20_000;
const tooManyText = `the project has more than ${maxFiles.toLocaleString("en-US")} files`;

/** These write through the session, or not at all. */
const knownTools = new Set("read grep find ls ast_grep ast_edit write edit todo_write ask undo resolve".split(" "));

export function mayWriteUntold(toolName: string): boolean {
  return !knownTools.has(toolName);
}

export interface ProjectWatchOptions {
  /** Of the project; files are named from it on. */
  readonly root: string;
  /** Files that galley writes for itself. */
  isOwn(path: string): boolean;
}

type Look = { readonly stamps: FileStamps } | { readonly problem: string };

export class ProjectWatch {
  readonly #options: ProjectWatchOptions;
  #before: Promise<Look> | undefined;

  constructor(options: ProjectWatchOptions) {
    this.#options = options;
  }

  /** Resolves when the call may begin. Never rejects. */
  async begin(): Promise<void> {
    this.#before ??= this.#look();
    await this.#before;
  }

  /** `isTold`: the files that the session itself has written. */
  async end(isTold: (path: string) => boolean): Promise<ChangedBesides> {
    if (!this.#before) return { kind: "none" };
    const before = await this.#before;
    if ("problem" in before) return { kind: "unknown", reason: before.problem };
    const after = await this.#look();
    if ("problem" in after) return { kind: "unknown", reason: after.problem };
    const files = differences(before.stamps, after.stamps).filter(
      ({ path }) => !isTold(path) && !this.#options.isOwn(path),
    );
    const shown = (path: string) => shownInProject(path, this.#options.root);
    return { kind: "compared", files: files.map((file) => ({ ...file, shownPath: shown(file.path) })) };
  }

  async #look(): Promise<Look> {
    try {
      const stamps = await stampFiles(this.#options.root, maxFiles);
      return stamps ? { stamps } : { problem: tooManyText };
    } catch (error) {
      return { problem: `the project cannot be read: ${messageOf(error)}` };
    }
  }
}

function differences(before: FileStamps, after: FileStamps): Omit<ChangedFile, "shownPath">[] {
  const files: Omit<ChangedFile, "shownPath">[] = [];
  for (const [path, stamp] of after) {
    const old = before.get(path);
    if (old === undefined) files.push({ path, kind: "create" });
    else if (old !== stamp) files.push({ path, kind: "modify" });
  }
  for (const path of before.keys()) if (!after.has(path)) files.push({ path, kind: "delete" });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
