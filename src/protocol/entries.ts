// The lines of a session file: one header, then entries that form a tree. Entry types that are not listed here are
// kept as they came and play no part in the context.

import Type, { type Static, type TProperties } from "typebox";
import { compactionFields } from "./compaction-fields.js";
import { InputContent } from "./content.js";
import { AgentMessage } from "./messages.js";

const nameSource = Type.Union([Type.Literal("auto"), Type.Literal("user")]);

export const SessionHeader = Type.Object({
  type: Type.Literal("session"),
  /** Missing means 1. */
  version: Type.Optional(Type.Integer({ minimum: 1 })),
  id: Type.String(),
  timestamp: Type.String(),
  cwd: Type.String(),
  parentSession: Type.Optional(Type.String()),
  parentSessionId: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  titleSource: Type.Optional(nameSource),
});
export type SessionHeader = Static<typeof SessionHeader>;

const place = {
  id: Type.String(),
  /** `null` for a root. */
  parentId: Type.Union([Type.String(), Type.Null()]),
  /** ISO 8601. */
  timestamp: Type.String(),
};

/** What every entry has, known or not. */
export const EntryBase = Type.Object({ type: Type.String(), ...place });
export type EntryBase = Static<typeof EntryBase>;

function entry<Name extends string, Fields extends TProperties>(name: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(name), ...place, ...fields });
}

export const MessageEntry = entry("message", { message: AgentMessage });
export type MessageEntry = Static<typeof MessageEntry>;

/** Written with all four. The second form, without a role, is read from other programs' files. */
export const ModelChangeEntry = Type.Union([
  entry("model_change", {
    provider: Type.Optional(Type.String()),
    modelId: Type.Optional(Type.String()),
    model: Type.String(),
    role: Type.Optional(Type.String()),
  }),
  entry("model_change", { provider: Type.String(), modelId: Type.String() }),
]);
export type ModelChangeEntry = Static<typeof ModelChangeEntry>;

export const ThinkingLevelChangeEntry = entry("thinking_level_change", {
  thinkingLevel: Type.Union([Type.String(), Type.Null()]),
});
export type ThinkingLevelChangeEntry = Static<typeof ThinkingLevelChangeEntry>;

export const ServiceTierChangeEntry = entry("service_tier_change", {
  serviceTier: Type.Union([Type.String(), Type.Null()]),
});
export type ServiceTierChangeEntry = Static<typeof ServiceTierChangeEntry>;

export const CompactionEntry = entry("compaction", {
  ...compactionFields,
  /** Another program's spelling of `fromExtension`: read, never written. */
  fromHook: Type.Optional(Type.Boolean()),
});
export type CompactionEntry = Static<typeof CompactionEntry>;

export const BranchSummaryEntry = entry("branch_summary", {
  /** An entry id, or `root`. */
  fromId: Type.String(),
  summary: Type.String(),
  details: Type.Optional(Type.Unknown()),
  fromExtension: Type.Optional(Type.Boolean()),
});
export type BranchSummaryEntry = Static<typeof BranchSummaryEntry>;

export const CustomEntry = entry("custom", { customType: Type.String(), data: Type.Optional(Type.Unknown()) });
export type CustomEntry = Static<typeof CustomEntry>;

export const CustomMessageEntry = entry("custom_message", {
  customType: Type.String(),
  content: Type.Union([Type.String(), Type.Array(InputContent)]),
  display: Type.Boolean(),
  details: Type.Optional(Type.Unknown()),
  attribution: Type.Optional(Type.Union([Type.Literal("user"), Type.Literal("agent")])),
});
export type CustomMessageEntry = Static<typeof CustomMessageEntry>;

export const LabelEntry = entry("label", {
  targetId: Type.String(),
  /** Missing or empty clears. */
  label: Type.Optional(Type.String()),
});
export type LabelEntry = Static<typeof LabelEntry>;

export const TtsrInjectionEntry = entry("ttsr_injection", { injectedRules: Type.Array(Type.String()) });
export type TtsrInjectionEntry = Static<typeof TtsrInjectionEntry>;

export const McpToolSelectionEntry = entry("mcp_tool_selection", { selectedToolNames: Type.Array(Type.String()) });
export type McpToolSelectionEntry = Static<typeof McpToolSelectionEntry>;

export const SessionInitEntry = entry("session_init", {
  systemPrompt: Type.String(),
  task: Type.String(),
  tools: Type.Array(Type.String()),
  outputSchema: Type.Optional(Type.Unknown()),
});
export type SessionInitEntry = Static<typeof SessionInitEntry>;

export const ModeChangeEntry = entry("mode_change", { mode: Type.String(), data: Type.Optional(Type.Unknown()) });
export type ModeChangeEntry = Static<typeof ModeChangeEntry>;

export const ContextChangeEntry = entry("context_change", {
  contextName: Type.String(),
  tenant: Type.String(),
  namespace: Type.String(),
});
export type ContextChangeEntry = Static<typeof ContextChangeEntry>;

/** Names the session; the last one on file wins. Other programs leave the source out. */
export const SessionInfoEntry = entry("session_info", { name: Type.String(), source: Type.Optional(nameSource) });
export type SessionInfoEntry = Static<typeof SessionInfoEntry>;

/** Moves the leaf; `null` puts it before the first entry. */
export const LeafEntry = entry("leaf", { targetId: Type.Union([Type.String(), Type.Null()]) });
export type LeafEntry = Static<typeof LeafEntry>;

/** Replaces the outputs of these tool results in the context. */
export const PruneEntry = entry("prune", { entryIds: Type.Array(Type.String()) });
export type PruneEntry = Static<typeof PruneEntry>;

export const SessionEntry = Type.Union([
  MessageEntry,
  ModelChangeEntry,
  ThinkingLevelChangeEntry,
  ServiceTierChangeEntry,
  CompactionEntry,
  BranchSummaryEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  TtsrInjectionEntry,
  McpToolSelectionEntry,
  SessionInitEntry,
  ModeChangeEntry,
  ContextChangeEntry,
  SessionInfoEntry,
  LeafEntry,
  PruneEntry,
]);
export type SessionEntry = Static<typeof SessionEntry>;
