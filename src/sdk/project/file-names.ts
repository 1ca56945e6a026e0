// The names of the files of a directory, for completion: what `.gitignore` names is left out, and so is what may hold secrets.

import { createNodeWorkspace } from "../../files/node-workspace.js";

export interface FileNamesOptions {
  readonly agentDir: string;
  readonly signal?: AbortSignal;
  /** Default: 50,000. The rest is left out. */
  readonly limit?: number;
}

/** Below `cwd`, with `/`, sorted by path. */
export async function fileNames(
  cwd: string,
  { agentDir, signal, limit = 50_000 }: FileNamesOptions,
): Promise<string[]> {
  const workspace = createNodeWorkspace({ cwd, agentDir });
  const root = await workspace.resolve(".", "read");
  const names: string[] = [];
  for await (const { path } of workspace.walk(root, { signal })) {
    names.push(path.slice(root.path.length + 1).replaceAll("\\", "/"));
    if (names.length >= limit) break;
  }
  return names;
}
