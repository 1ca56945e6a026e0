// Members of a tool object that galley does not know. A misspelt `approval` would otherwise be a tool with the highest
// tier, and nothing would say so.

import { suggestion } from "../../base/nearest-name.js";
import type { CustomTool } from "../api/custom-tool.js";
import type { ToolDefinition } from "../api/extension.js";

/** A table, so that a new member does not compile without its name. */
const known: Readonly<Record<keyof CustomTool | keyof ToolDefinition, true>> = {
  name: true,
  label: true,
  description: true,
  parameters: true,
  hidden: true,
  deferrable: true,
  strict: true,
  approval: true,
  formatApprovalDetails: true,
  loadMode: true,
  mcpServerName: true,
  mcpToolName: true,
  execute: true,
  onSession: true,
  renderCall: true,
  renderResult: true,
  mergeCallAndResult: true,
  renderShell: true,
  inline: true,
  defaultInactive: true,
  promptSnippet: true,
  promptGuidelines: true,
  prepareArguments: true,
};

/** Without meaning here, and with one in programs that tools are also written for. */
const elsewhere = [
  ...[
    "lenientArgValidation",
    "nonAbortable",
    "concurrency",
    "executionMode",
    "constrainedSampling",
    "summary",
    "examples",
  ],
  ...["aliases", "published", "givesAway", "isCommand", "approvalDetails"], // of our own tools, which extensions wrap
];
const names = [...Object.keys(known), ...elsewhere];

interface UnknownMember {
  readonly name: string;
  /** Like one that is known. */
  readonly isNear: boolean;
  readonly sentence: string;
}

/** An instance of a class may hold whatever its methods need: of its members only near ones count. */
export function unknownMembers(tool: object): UnknownMember[] {
  const prototype: unknown = Object.getPrototypeOf(tool);
  const isPlain = prototype === Object.prototype || prototype === null;
  return Object.keys(tool)
    .filter((name) => !names.includes(name))
    .map((name) => ({ name, meant: suggestion(name, names) }))
    .filter(({ meant }) => isPlain || meant !== "")
    .map(({ name, meant }) => ({
      name,
      isNear: meant !== "",
      sentence: `tool "${nameOf(tool)}" has an unknown member "${name}"${meant}`,
    }));
}

/** What looks misspelt: what else a tool carries is its own affair, and only a check tells of it. */
export function misspeltMembers(tool: object): UnknownMember[] {
  return unknownMembers(tool).filter(({ isNear }) => isNear);
}

function nameOf(tool: object): string {
  return "name" in tool ? String(tool.name) : "";
}
