// `@path` in a prompt: the file's text, or the image that it is, goes with the prompt. A word that names no file stays
// a word; a file that the workspace refuses is logged and left out.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { Target, Workspace } from "../../files/workspace.js";
import type { FileMentionMessage } from "../../protocol/messages.js";
import { imageType } from "../../tools/images/sniff.js";
import { decodeText } from "./text-files.js";

type MentionedFile = FileMentionMessage["files"][number];

export const maxMentions = 20;
export const maxMentionedTextBytes = 256 * 1024;
export const maxMentionedImageBytes = 5 * 1024 * 1024;

/** At the beginning of a word: an address such as me@example.org mentions no file. */
const mention = /(?<=^|[\s([{"'`])@(?:"([^"\n]{1,1024})"|([^\s"'`]{1,1024}))/g;
/** Punctuation of a sentence that may follow a name. */
const punctuation = /[.,;:!?)\]}]+$/;

export async function readMentions(text: string, workspace: Workspace, log: Log): Promise<MentionedFile[]> {
  const files = new Map<string, MentionedFile>();
  for (const [, quoted, word = ""] of text.matchAll(mention)) {
    if (files.size === maxMentions) break;
    const target = await find(quoted === undefined ? [word, word.replace(punctuation, "")] : [quoted], workspace, log);
    if (target && !files.has(target.path)) files.set(target.path, await read(target, workspace));
  }
  return [...files.values()];
}

async function find(spellings: readonly string[], workspace: Workspace, log: Log): Promise<Target | undefined> {
  for (const spelling of new Set(spellings)) {
    try {
      const target = await workspace.resolve(spelling, "read");
      if (target.kind === "file") return target;
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error;
      if (error.code !== "not_found") log.warn(`@${printable(spelling)} is not sent: ${messageOf(error)}`);
    }
  }
  return undefined;
}

async function read(target: Target, workspace: Workspace): Promise<MentionedFile> {
  const { displayPath: path } = target;
  const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: maxMentionedImageBytes });
  const byteSize = bytes.length;
  const mimeType = imageType(bytes);
  if (isTruncated || (!mimeType && byteSize > maxMentionedTextBytes)) {
    const { sizeBytes } = await workspace.stat(target);
    return { path, content: "", byteSize: sizeBytes, skippedReason: "tooLarge" };
  }
  if (mimeType) {
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
    return { path, content: "", byteSize, image: { type: "image", data, mimeType } };
  }
  const content = textOf(bytes);
  return { path, content, lineCount: content.split("\n").length - (content.endsWith("\n") ? 1 : 0), byteSize };
}

function textOf(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    return "(not text)"; // the model may find out what it is
  }
}
