// A session as one HTML page that stands alone: it loads nothing, runs nothing, and reads well without either. Every
// field of a session is treated as hostile. The page is made in pieces, so that it is never in memory as a whole.

import type { SessionEntry, SessionHeader } from "../protocol/entries.js";
import { messageOfEntry } from "../record/entry-message.js";
import { type EntryTree, isBookkeeping, userText } from "../record/entry-tree.js";
import { sessionStats } from "../record/session-stats.js";
import type { BlobStore } from "../record/store/blobs.js";
import { renderConversation } from "./conversation.js";
import { type LiveSession, renderFoot, renderHead, renderHeader, renderLive } from "./page.js";
import { createRenderer, type ExportOptions, type Renderer } from "./renderer.js";

export type { ExportOptions, LiveSession };

/** A `SessionRecord` is one; `readSource` makes one from a file. */
export interface ExportSource {
  readonly header: SessionHeader;
  readonly tree: Pick<EntryTree, "entries" | "labels" | "name" | "pathTo">;
  readonly blobs: Pick<BlobStore, "get">;
  /** Only for a session that is open. */
  readonly live?: LiveSession | undefined;
}

/** The whole page as one text. For a long session, hand the pieces to `writeExport` instead. */
export async function exportHtml(source: ExportSource, options: ExportOptions = {}): Promise<string> {
  let page = "";
  for await (const piece of exportPieces(source, options)) page += piece;
  return page;
}

/** The path is taken with the first piece: what the session says later is not part of the page. */
export async function* exportPieces(source: ExportSource, options: ExportOptions = {}): AsyncGenerator<string> {
  const { header, tree, live } = source;
  const path = tree.pathTo();
  const labels = new Map(tree.labels);
  const renderer = await createRenderer(options, source.blobs);
  const entries = [...tree.entries];
  const title = titleOf({ name: tree.name, path, id: header.id }, renderer);
  yield await renderHead(title);
  yield renderHeader({ title, header, path, ...figuresOf(header.id, entries, path) }, renderer);
  if (live) yield renderLive(live, renderer);
  let pausedAt = performance.now();
  for await (const piece of renderConversation({ path, labels, session: header.id }, renderer)) {
    if (piece !== "") yield piece;
    if (performance.now() - pausedAt < busyMs) continue;
    await new Promise(setImmediate); // let other work in this process run
    pausedAt = performance.now();
  }
  yield renderFoot(entries.filter((entry) => !isBookkeeping(entry)).length - path.length);
}

const busyMs = 20;

function titleOf(
  { name, path, id }: { name: string | undefined; path: readonly SessionEntry[]; id: string },
  renderer: Renderer,
): string {
  const firstText = path.map((entry) => userText(entry) ?? "").find((text) => text.trim() !== "");
  return renderer.line(name, 100) || renderer.line(firstText, 100) || renderer.line(id, 100);
}

/** Messages are counted as the page shows them; tokens and cost are those of the whole file. */
function figuresOf(sessionId: string, entries: readonly SessionEntry[], path: readonly SessionEntry[]) {
  const messages = path.map(messageOfEntry).filter((message) => message !== undefined);
  const models = new Set<string>();
  for (const message of messages)
    if (message.role === "assistant" && message.model !== "") models.add(`${message.provider}/${message.model}`);
  return { stats: sessionStats({ sessionId, entries, messages }), models: [...models].slice(0, maxModels) };
}

const maxModels = 20;
