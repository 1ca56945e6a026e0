// An image for a model to look at: as it is, or smaller where it is larger than models look at. We unpack PNG alone; of
// the others we know the size, and refuse what a service would refuse with the whole conversation around it.

import type { Target, Workspace } from "../../files/workspace.js";
import type { ToolResult } from "../../protocol/events.js";
import { sizeText } from "../output/text.js";
import type { SeenFiles } from "../seen-files.js";
import { toolFailure } from "../tool.js";
import { type ImageSize, imageSize } from "./image-size.js";

const maxImageBytes = 20 * 1024 * 1024;
/** More is of no use: services make it smaller themselves. */
const maxSide = 2000;
/** The most that services take. */
const refusedSide = 8000;

export interface ImageRequest {
  readonly mimeType: string;
  readonly seen: SeenFiles;
  readonly autoResize: boolean;
  readonly signal: AbortSignal | undefined;
}

export async function readImage(workspace: Workspace, target: Target, request: ImageRequest): Promise<ToolResult> {
  const { mimeType, seen, autoResize, signal } = request;
  const { sizeBytes } = await workspace.stat(target);
  if (sizeBytes > maxImageBytes) throw tooLarge(sizeBytes);
  const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: maxImageBytes, signal });
  if (isTruncated) throw tooLarge(bytes.length + 1); // it grew after it was measured
  const size = imageSize(bytes, mimeType);
  const about = [mimeType, sizeText(bytes.length), ...(size ? [pixels(size)] : [])].join(", ");
  const name = `Image ${target.displayPath} (${about})`;
  const small = autoResize && size && isLarge(size) ? await resized(bytes, mimeType, signal) : undefined;
  if (autoResize && !small && size && Math.max(size.width, size.height) > refusedSide)
    throw toolFailure(
      `${name} is too large to be looked at: at most ${refusedSide} pixels on a side. Make it smaller first.`,
    );
  seen.note(target.path, { bytes, isTruncated });
  if (small) return shown(`${name}, shown resized to ${pixels(small)}.`, small.bytes, mimeType);
  return shown(`${name}, as it is on disk: not resized.`, bytes, mimeType);
}

function shown(text: string, bytes: Uint8Array, mimeType: string): ToolResult {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return {
    content: [
      { type: "text", text },
      { type: "image", data, mimeType },
    ],
    details: { meta: {} },
  };
}

async function resized(bytes: Uint8Array, mimeType: string, signal: AbortSignal | undefined) {
  if (mimeType !== "image/png") return undefined;
  const { resizePng } = await import("./png-resize.js");
  return resizePng(bytes, maxSide, signal);
}

function isLarge({ width, height }: ImageSize): boolean {
  return Math.max(width, height) > maxSide;
}

function pixels({ width, height }: ImageSize): string {
  return `${width}x${height}`;
}

function tooLarge(sizeBytes: number): Error {
  return toolFailure(`Image file too large: ${sizeText(sizeBytes)} exceeds ${sizeText(maxImageBytes)} limit.`);
}
