// One session's record as modules of pi use it: read by their names, and appended to.

import { readonlySession } from "../../extensions/api/custom-tool-session.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { buildContext } from "../../record/build-context.js";
import { EntryTree } from "../../record/entry-tree.js";
import type { SessionRecord } from "../../record/record.js";
import type { EntryFields } from "../../record/record-options.js";
import { entryOf } from "../../session/session-messages.js";

const records = new WeakMap<object, SessionRecord>();

/** The record behind a manager; itself where it is one. */
export function recordOf(manager: object): object {
  return records.get(manager) ?? manager;
}

/** With the record's own members as well. `file`: where it was read from, if it is a copy. */
export function piSessionManager(record: SessionRecord, file?: string): SessionRecord {
  const append = (entry: EntryFields) => record.append(entry).id;
  const view = readonlySession(() => record);
  const members: Record<string, unknown> = {
    ...view,
    getSessionFile: () => file ?? view.getSessionFile(),
    isPersisted: () => (file ?? record.sessionFile) !== undefined,
    getChildren: (parent: string) => record.tree.entries.filter(({ parentId }) => parentId === parent),
    buildSessionContext: () => buildSessionContext(record.tree.entries, record.tree.leafId),
    appendMessage: (message: AgentMessage) => append(entryOf(message)),
    appendCustomEntry: (customType: string, data?: unknown) => append({ type: "custom", customType, data }),
    appendCustomMessageEntry: (customType: string, content: string, display: boolean, details?: unknown) =>
      append({ type: "custom_message", customType, content, display, details }),
    appendSessionInfo: (name: string) => record.setName(name)?.id,
    appendLabelChange: (target: string, label?: string) => record.setLabel(target, label).id,
    appendThinkingLevelChange: (thinkingLevel: string) => append({ type: "thinking_level_change", thinkingLevel }),
    branch: (entryId: string) => void record.moveLeaf(entryId),
    resetLeaf: () => void record.moveLeaf(null),
  };
  const manager = new Proxy(record, {
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(members, name)) return members[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  records.set(manager, record);
  return manager;
}

/** What the model was shown at an entry; default: at the last one. */
export function buildSessionContext(entries: readonly SessionEntry[], leafId?: string | null) {
  const tree = new EntryTree(undefined, entries);
  const { messages, thinkingLevel, models } = buildContext(tree.pathTo(leafId));
  const [provider, ...rest] = models.get("default")?.split("/") ?? [];
  const model = provider === undefined ? null : { provider, modelId: rest.join("/") };
  return { messages, thinkingLevel: thinkingLevel ?? "off", model };
}
