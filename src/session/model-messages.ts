// The conversation in the form a model takes. Converts only what is new: the context grows at its end, and a long
// history must not be paid for again with every request.

import type { InputContent } from "../protocol/content.js";
import type { AgentMessage, FileMentionMessage, UserMessage } from "../protocol/messages.js";
import type { ModelMessage } from "../provider/provider.js";
import type { SessionContext } from "../record/build-context.js";
import { executionText } from "./bash/execution-text.js";
import { estimateTokens, prunedText } from "./context-usage.js";

export class ModelMessages {
  readonly #blocksImages: boolean;
  #revision: number | undefined;
  #seen = 0;
  #converted: ModelMessage[] = [];
  /** By the message of the record: the same with its images instead of references to them. Undefined: none has any. */
  #withImages: WeakMap<AgentMessage, AgentMessage> | undefined;
  /** How far the list of which revision was looked through for them. */
  #loaded = { revision: -1, count: 0 };

  /** `blocksImages`: no image leaves this machine, wherever it came from. */
  constructor({ blocksImages = false }: { blocksImages?: boolean | undefined } = {}) {
    this.#blocksImages = blocksImages;
  }

  /** Before a run: messages read from a file only refer to their images, and a model needs the images. */
  async loadImages(
    { messages, revision }: SessionContext,
    load: (message: AgentMessage) => Promise<AgentMessage>,
  ): Promise<void> {
    if (this.#blocksImages) return;
    if (revision !== this.#loaded.revision) this.#loaded = { revision, count: 0 };
    for (; this.#loaded.count < messages.length; this.#loaded.count++) {
      const message = messages[this.#loaded.count];
      if (!message || !hasImage(message)) continue;
      this.#withImages ??= new WeakMap();
      if (!this.#withImages.has(message)) this.#withImages.set(message, await load(message));
    }
  }

  /** The conversation as the model is to see it, before it is put into the model's form. */
  shown({ messages, entryIds, prunedEntryIds }: SessionContext): AgentMessage[] {
    return messages.map((recorded, index) => this.#shown(recorded, prunedEntryIds.has(entryIds[index] ?? "")));
  }

  of({ messages, entryIds, prunedEntryIds, revision }: SessionContext): readonly ModelMessage[] {
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#seen = 0;
      this.#converted = [];
    }
    for (; this.#seen < messages.length; this.#seen++) {
      const recorded = messages[this.#seen];
      if (!recorded) continue;
      const isPruned = prunedEntryIds.size > 0 && prunedEntryIds.has(entryIds[this.#seen] ?? "");
      const converted = toModelMessage(this.#shown(recorded, isPruned));
      if (converted) this.#converted.push(converted);
    }
    return this.#converted;
  }

  #shown(recorded: AgentMessage, isPruned: boolean): AgentMessage {
    const message = this.#allowed(this.#withImages?.get(recorded) ?? recorded);
    return isPruned ? pruned(message) : message;
  }

  /** The conversation as an extension revised it. */
  ofRevised(messages: readonly AgentMessage[]): ModelMessage[] {
    return toModelMessages(messages.map((message) => this.#allowed(message)));
  }

  #allowed(message: AgentMessage): AgentMessage {
    return this.#blocksImages && hasImage(message) ? withoutImages(message) : message;
  }
}

function hasImage(message: AgentMessage): boolean {
  if (message.role === "fileMention") return message.files.some(({ image }) => image !== undefined);
  if (!("content" in message) || typeof message.content === "string") return false;
  // Without a function call for each block: a long history is scanned as a whole, by code that is still cold.
  for (const block of message.content) if (block.type === "image") return true;
  return false;
}

const blockedImage = { type: "text" as const, text: "[image not sent: the setting images.blockImages is on]" };

function withoutImages(message: AgentMessage): AgentMessage {
  if (message.role === "fileMention")
    return {
      ...message,
      files: message.files.map(({ image, ...file }) => (image ? { ...file, content: blockedImage.text } : file)),
    };
  if (!("content" in message) || typeof message.content === "string") return message;
  const content = message.content.map((block) => (block.type === "image" ? blockedImage : block));
  return { ...message, content } as AgentMessage; // only what may hold an image had one
}

/** Only the model's copy shrinks; the record keeps the whole output. */
function pruned(message: AgentMessage): AgentMessage {
  if (message.role !== "toolResult") return message;
  return { ...message, content: [{ type: "text", text: prunedText(estimateTokens(message)) }] };
}

export function toModelMessages(messages: readonly AgentMessage[]): ModelMessage[] {
  return messages.map(toModelMessage).filter((message) => message !== undefined);
}

/** Undefined for what the model must not see. */
export function toModelMessage(message: AgentMessage): ModelMessage | undefined {
  switch (message.role) {
    case "user":
    case "developer":
    case "assistant":
    case "toolResult":
      return message;
    case "custom":
    case "hookMessage":
      return asUser(message.content, message.timestamp);
    case "bashExecution":
      return message.excludeFromContext
        ? undefined
        : asUser(executionText(message.command, message), message.timestamp);
    case "pythonExecution":
      return message.excludeFromContext ? undefined : asUser(executionText(message.code, message), message.timestamp);
    case "branchSummary":
      return asUser(
        `This is the summary of a branch this conversation came back from:\n\n<summary>\n${message.summary}\n</summary>`,
        message.timestamp,
      );
    case "compactionSummary":
      return asUser(
        `An earlier model summarized the conversation so far. Build on its work:\n\n<summary>\n${message.summary}\n</summary>`,
        message.timestamp,
      );
    case "fileMention":
      return asUser(fileContent(message), message.timestamp);
  }
}

function asUser(content: UserMessage["content"], timestamp: number): UserMessage {
  return { role: "user", content, attribution: "agent", synthetic: true, timestamp };
}

function fileContent({ files }: FileMentionMessage): InputContent[] {
  return files.flatMap(({ path, content, skippedReason, image }): InputContent[] => {
    const body = skippedReason ? "(skipped: too large)" : (content ?? "");
    const text: InputContent = {
      type: "text",
      text: `<file path="${path.replaceAll('"', "&quot;")}">\n${body}\n</file>`,
    };
    return image ? [text, image] : [text];
  });
}
