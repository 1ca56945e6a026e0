// The read tool: text by lines, images as images, directories as lists. It never gives more than a model can use, and
// says what it left out.

import type { XStatic } from "typebox/schema";
import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { binaryHeadBytes, isBinary } from "../base/is-binary.js";
import { stripEscapes } from "../base/sanitize.js";
import { printable, quoted } from "../files/paths/resolve-path.js";
import type { FileBytes, Target, Workspace } from "../files/workspace.js";
import type { ToolResult } from "../protocol/events.js";
import { imageType } from "./images/sniff.js";
import { shownTruncation } from "./output/shown-truncation.js";
import { notice, sizeText } from "./output/text.js";
import { closeNames } from "./search/close-names.js";
import { SeenFiles } from "./seen-files.js";
import { type LineSelection, parseSelection, selectLines } from "./text/read-lines.js";
import { type AgentTool, type ArtifactSource, toolFailure } from "./tool.js";

const maxEntries = 500;
const maxArtifactBytes = 50 * 1024 * 1024;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    sel: { type: "string", description: "L50, L50-L120 or raw (no 300-line limit)" },
  },
  required: ["path"],
} as const;

type ReadParams = XStatic<typeof parameters>;

export interface ReadOptions {
  clock?: Clock;
  /** Where `artifact://<id>` is looked up. */
  artifacts?: ArtifactSource;
  /** Lines without a selection. */
  defaultLimit?: number;
  /** Make large images smaller where we can; default yes. */
  autoResize?: boolean;
  /** Records every file whose content is shown. */
  seen?: SeenFiles;
}

export function createRead(workspace: Workspace, options: ReadOptions = {}): AgentTool<ReadParams> {
  const { clock = systemClock, seen = new SeenFiles(), artifacts, defaultLimit } = options;
  return {
    name: "read",
    label: "Read",
    description: "Read a text file (300 lines without sel) or an image, or list a directory.",
    parameters,
    approval: "read",
    prepareArguments,
    async execute(_toolCallId, { path, sel }, signal) {
      if (/^https?:\/\//i.test(path)) throw toolFailure("Reading URLs is not available in this version.");
      const selection = parseSelection(sel, defaultLimit);
      const artifact = /^artifact:\/\/(.*)$/i.exec(path.trim())?.[1];
      if (artifact !== undefined) return showText(await readArtifact(artifacts, artifact), selection);
      const target = await resolveOrSuggest(workspace, path);
      if (target.kind === "directory") return readDirectory(workspace, target, { clock, signal });
      const head = await workspace.readFile(target, { maxBytes: binaryHeadBytes, signal });
      const mimeType = imageType(head.bytes);
      if (mimeType) {
        const { autoResize = true } = options;
        const { readImage } = await import("./images/read-image.js"); // most sessions see none
        return readImage(workspace, target, { mimeType, seen, autoResize, signal });
      }
      if (isBinary(head.bytes)) return binaryNote(target, (await workspace.stat(target)).sizeBytes);
      const file = head.isTruncated ? await workspace.readFile(target, { signal }) : head;
      const shown = showText(file, selection);
      seen.note(target.path, file); // not before: a selection behind the end shows nothing
      return shown;
    },
  };
}

function showText(file: FileBytes, selection: LineSelection): ToolResult {
  if (file.bytes.length === 0) return warning("(empty file)");
  const { text, remarks, truncation } = selectLines(file, selection);
  const clean = stripEscapes(text);
  if (clean !== text) remarks.push("Terminal escape sequences were removed");
  return result(clean + notice(remarks), truncation ? { truncation } : {});
}

async function readArtifact(artifacts: ArtifactSource | undefined, id: string): Promise<FileBytes> {
  const found = await artifacts?.readBytes(id, maxArtifactBytes);
  if (!found) throw toolFailure(`Artifact ${quoted(id)} not found`);
  return found;
}

/** `file_path` for `path`; `offset` and `limit` for `sel`. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { file_path, offset, limit, ...rest } = args;
  const prepared: Record<string, unknown> = { ...rest };
  if (prepared.path === undefined && file_path !== undefined) prepared.path = file_path;
  const start = wholeNumber(offset);
  const lines = wholeNumber(limit);
  if (prepared.sel === undefined && (start !== undefined || lines)) {
    const first = start ?? 1;
    prepared.sel = lines ? `L${first}-L${first + lines - 1}` : `L${first}`;
  }
  return prepared;
}

/** Zero is kept, so that `offset: 0` is answered like `L0`; anything that is no count is left out. */
function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number < 1e9 ? number : undefined;
}

async function resolveOrSuggest(workspace: Workspace, path: string): Promise<Target> {
  try {
    return await workspace.resolve(path, "read");
  } catch (error) {
    if (!GalleyError.is(error, "not_found")) throw error;
    const names = await closeNames(workspace, path);
    if (names.length === 0) throw error;
    throw new GalleyError("not_found", `${error.message}. Close names: ${names.join(", ")}`, { cause: error });
  }
}

async function readDirectory(
  workspace: Workspace,
  target: Target,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<ToolResult> {
  const { entries, total } = await workspace.list(target, { limit: maxEntries, signal }).catch((error: unknown) => {
    if (!GalleyError.is(error, "file_refused")) throw error;
    throw toolFailure(`Cannot read directory: ${error.message}`, error);
  });
  if (entries.length === 0) return warning("(empty directory)");
  const lines = entries.map(({ name, kind, modifiedMs }) => {
    const suffix = kind === "directory" ? "/" : "";
    return `${printable(name)}${suffix} (${shortAge(clock.now() - modifiedMs)})`;
  });
  if (total <= maxEntries) return result(lines.join("\n"), {});
  const remark = `${maxEntries} results limit reached; the directory has ${total} entries`;
  return result(lines.join("\n") + notice([remark]), { limits: { resultLimit: maxEntries } });
}

function shortAge(ageMs: number): string {
  const minutes = Math.floor(ageMs / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes}m ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ago`;
  const days = Math.floor(hours / 24);
  if (days < 60) return `${days}d ago`;
  return days < 730 ? `${Math.floor(days / 30)}mo ago` : `${Math.floor(days / 365)}y ago`;
}

function binaryNote(target: Target, sizeBytes: number): ToolResult {
  return warning(`${target.displayPath} is a binary file (${sizeText(sizeBytes)}); its content is not shown.`);
}

function warning(text: string): ToolResult {
  return { ...result(text, {}), isWarning: true };
}

function result(text: string, meta: Parameters<typeof shownTruncation>[0] & { limits?: object }): ToolResult {
  return { content: [{ type: "text", text }], details: { meta, ...shownTruncation(meta) } };
}
