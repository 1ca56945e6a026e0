// Proposes a line under "Unreleased" in CHANGELOG.md. The plan is written by galley once the preview is applied.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CustomToolFactory } from "galley";

const heading = "## Unreleased";

const factory: CustomToolFactory = (pi) => ({
  name: "changelog_entry",
  label: "Changelog entry",
  description: "Proposes one line for the changelog, under its heading for what is not released yet",
  deferrable: true,
  approval: "write",
  parameters: pi.zod.object({
    text: pi.zod.string().trim().min(1).describe("What changed, as users see it"),
    file: pi.zod.string().default("CHANGELOG.md").describe("The changelog"),
  }),
  async execute(_toolCallId, params) {
    const before = await readFile(join(pi.cwd, params.file), "utf8");
    const line = `- ${params.text}`;
    if (before.split("\n").includes(line))
      return { content: [{ type: "text", text: `${params.file} says so already.` }], isWarning: true };

    await pi.pushPendingAction({
      label: `Changelog entry: ${params.text}`,
      sourceToolName: "changelog_entry",
      details: { file: params.file, line },
      plan: [{ path: params.file, after: withLine(before, line) }],
      preview: { text: `+${line}` },
    });
    return { content: [{ type: "text", text: `Proposed for ${params.file}:\n+${line}` }], details: { line } };
  },
  renderCall: (args, theme) => theme.fg("toolTitle", `Changelog: ${args.text ?? "…"}`),
});

/** After the heading and the lines that are there already; a changelog without the heading gets one at its top. */
function withLine(text: string, line: string): string {
  const lines = text.split("\n");
  const start = lines.indexOf(heading);
  if (start === -1) return `${heading}\n\n${line}\n\n${text}`;
  let end = start + 1;
  while (end < lines.length && (lines[end] === "" || lines[end]?.startsWith("- "))) end++;
  while (end > start + 1 && lines[end - 1] === "") end--;
  const added = end === start + 1 ? ["", line] : [line];
  return [...lines.slice(0, end), ...added, ...lines.slice(end)].join("\n");
}

// biome-ignore lint/style/noDefaultExport: this is how a module hands over its factory
export default factory;
