// What extensions draw in a terminal and which keys they have. A renderer that failed once is not used again, whichever call
// it is asked about.

import type { Log } from "../../base/log.js";
import type { AdaptedTool } from "../../extensions/api/custom-tool-adapter.js";
import type { ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import { type RenderHooks, ToolRenderer } from "../../extensions/api/render.js";
import type { ExtensionRunner } from "../../extensions/hooks/extension-runner.js";
import type { ExtensionDrawing } from "../../session/session-extensions.js";

export interface DrawingDeps {
  readonly tools: readonly AdaptedTool[];
  readonly runner: ExtensionRunner | undefined;
  readonly log: Log;
  onError(failure: ToolFailure): void;
}

export function extensionDrawing({ tools, runner, log, onError }: DrawingDeps): ExtensionDrawing {
  const failed = new Map<string, Set<string>>();
  const failedOf = (name: string) => {
    const known = failed.get(name) ?? new Set();
    failed.set(name, known);
    return known;
  };
  return {
    toolRenderer(name) {
      const registered = runner?.tools().find(({ definition }) => definition.name === name);
      const own = tools.find(({ tool }) => tool.name === name);
      const tool = (registered?.definition ?? own?.tool) as (RenderHooks & { name: string }) | undefined;
      if (!tool?.renderCall && !tool?.renderResult) return undefined;
      const path = registered?.path ?? own?.resolvedPath ?? "";
      return new ToolRenderer({ tool, path, log, onError, failed: failedOf(name) });
    },
    messageRenderer: (customType) => runner?.registry.messageRenderer(customType),
    shortcuts: () =>
      [...(runner?.registry.shortcuts() ?? [])].map(([key, { definition }]) => ({
        key,
        description: definition.description,
        run: () => void runner?.runShortcut(key),
      })),
  };
}
