import type { createNodeWorkspace } from "../../src/files/node-workspace.js";
import type { createEdit } from "../../src/tools/edit.js";
import type { SeenFiles } from "../../src/tools/seen-files.js";

export function buildEditsModule(directory: string): Promise<string>;

export function runEdits(options: {
  /** The sources themselves, or what `buildEditsModule` made of them. */
  tools: {
    createEdit: typeof createEdit;
    SeenFiles: typeof SeenFiles;
    createNodeWorkspace: typeof createNodeWorkspace;
  };
  /** For scratch files; the caller removes it. */
  directory: string;
  count: number;
  seed: number;
  /** Of one more file; 0 for none. */
  largeBytes: number;
}): Promise<{
  edits: number;
  changedBytes: number;
  changedModes: number;
  changedLinks: number;
  /** UTF-16, as it has to be. */
  refused: number;
  wronglyRefused: number;
  problems: string[];
}>;
