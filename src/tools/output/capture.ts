// The output of one command: its end for the model, all of its bytes in an artifact once it is long, and a limit after
// which the command has to stop. Memory is bounded and the cost of a chunk depends on its length alone.

import { messageOf } from "../../base/errors.js";
import type { ArtifactSink, ArtifactWriter } from "../tool.js";
import { maxOutputBytes, maxOutputLines, sizeText } from "./text.js";
import {
  countLineFeeds,
  type LineLimits,
  lineFeed,
  type OutputPart,
  type OutputSource,
  showHead,
  showTail,
  wholeCharacters,
} from "./view.js";
import { RollingBytes } from "./window.js";

export interface OutputSettings {
  /** An output longer than this goes to an artifact, and only the tail below stays inline. */
  readonly spillThresholdBytes: number;
  readonly tailBytes: number;
  readonly tailLines: number;
}

export const defaultOutputSettings: OutputSettings = {
  spillThresholdBytes: maxOutputBytes,
  tailBytes: 20 * 1024,
  tailLines: 500,
};

/** What one command may print. */
export const maxCapturedBytes = 256 * 1024 * 1024;

export interface OutputCaptureOptions {
  readonly toolName: string;
  readonly artifacts: ArtifactSink;
  readonly settings?: OutputSettings | undefined;
  /** Only the first, or the last, so many lines; with both, the last of the first. */
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Called once when there is more than `maxBytes`. The rest is ignored: time to stop the command. */
  onFull(): void;
}

export interface OutputTruncation {
  readonly direction: "head" | "tail";
  readonly truncatedBy: "lines" | "bytes";
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  readonly shownRange: { readonly start: number; readonly end: number };
  readonly artifactId?: string;
}

export interface CapturedOutput
  extends Pick<OutputTruncation, "totalLines" | "totalBytes" | "outputLines" | "outputBytes" | "artifactId"> {
  /** As a model reads it, the last line feed included. */
  readonly text: string;
  /** What there is to say about it, for `notice`. */
  readonly remarks: readonly string[];
  /** Where all of it lies on the disk, if it does. */
  readonly fullOutputPath?: string | undefined;
  /** Only where `text` is not all of it. */
  readonly truncation?: OutputTruncation;
}

/** More than a tail needs, since removing progress bars and colours shrinks it. */
const windowBytes = 256 * 1024;
const snapshotBytes = 64 * 1024;

export class OutputCapture {
  readonly #options: OutputCaptureOptions;
  readonly #settings: OutputSettings;
  readonly #maxBytes: number;
  readonly #window = new RollingBytes(windowBytes);
  #spill: OutputSpill | undefined;
  /** The beginning, once the window may have lost it. */
  #head: Buffer | undefined;
  #totalBytes = 0;
  #lineFeeds = 0;
  #isLineOpen = false;
  #isFull = false;

  constructor(options: OutputCaptureOptions) {
    this.#options = options;
    this.#settings = options.settings ?? defaultOutputSettings;
    this.#maxBytes = options.maxBytes ?? maxCapturedBytes;
  }

  /** There was more than may be kept. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The chunk must not change until the promise, where there is one, has resolved. Never fails. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    const room = this.#maxBytes - this.#totalBytes;
    const written = this.#take(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room && !this.#isFull) {
      this.#isFull = true;
      this.#options.onFull();
    }
    return written;
  }

  /** The newest lines of a command that still runs; its cost is bounded. */
  snapshot(): CapturedOutput {
    return this.#describe(this.#show({ windowBytes: snapshotBytes, limits: this.#tailLimits, isRunning: true }));
  }

  /** To be called once, after the last `push`. The artifact is complete then. */
  async finish(): Promise<CapturedOutput> {
    const limits = this.#isOverThreshold ? this.#tailLimits : { maxBytes: maxOutputBytes, maxLines: maxOutputLines };
    const part = this.#show({ windowBytes, limits, isRunning: false });
    // What is cut must be readable somewhere, also where it is too long by its lines alone.
    if (!this.#spill && this.#isCutByLimits(part)) await this.#startSpill().write(Buffer.from(this.#window.last()));
    await this.#spill?.close();
    return this.#describe(part);
  }

  #take(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.length === 0) return undefined;
    const isLong = this.#totalBytes + bytes.length > Math.min(this.#settings.spillThresholdBytes, maxOutputBytes);
    if (isLong && !this.#spill) {
      // Until now the window held all there was.
      const before = Buffer.from(this.#window.last());
      if (this.#options.head !== undefined)
        this.#head = Buffer.concat([before, bytes.subarray(0, maxOutputBytes)]).subarray(0, maxOutputBytes);
      void this.#startSpill().write(before); // never rejects, and later writes wait for it
    }
    this.#totalBytes += bytes.length;
    this.#lineFeeds += countLineFeeds(bytes);
    this.#isLineOpen = bytes.at(-1) !== lineFeed;
    this.#window.append(bytes);
    return this.#spill?.write(bytes);
  }

  #startSpill(): OutputSpill {
    this.#spill = new OutputSpill(this.#options.artifacts, this.#options.toolName);
    return this.#spill;
  }

  get #totalLines(): number {
    return this.#lineFeeds + (this.#isLineOpen ? 1 : 0);
  }

  get #isOverThreshold(): boolean {
    return this.#totalBytes > this.#settings.spillThresholdBytes;
  }

  get #tailLimits(): LineLimits {
    const { tailBytes, tailLines } = this.#settings;
    return { maxBytes: Math.min(tailBytes, maxOutputBytes), maxLines: Math.min(tailLines, maxOutputLines) };
  }

  #show({ windowBytes, limits, isRunning }: View): OutputPart {
    const { head, tail } = this.#options;
    const kept = head === undefined ? this.#window.last(windowBytes) : (this.#head ?? this.#window.last());
    const source: OutputSource = {
      bytes: isRunning ? wholeCharacters(kept) : kept,
      isWhole: kept.length === this.#totalBytes,
      totalLines: this.#totalLines,
    };
    const within = (lines = limits.maxLines) => ({ ...limits, maxLines: Math.min(lines, limits.maxLines) });
    return head === undefined ? showTail(source, within(tail)) : showHead(source, within(head), tail);
  }

  #isCut({ outputLines, cutLine }: OutputPart): boolean {
    return outputLines < this.#totalLines || cutLine !== undefined;
  }

  /** Not by what the caller asked for. */
  #isCutByLimits(part: OutputPart): boolean {
    return this.#isCut(part) && (part.isCutByBytes || !this.#isAsked(part));
  }

  #isAsked({ outputLines, shownRange }: OutputPart): boolean {
    return outputLines === this.#options.tail || shownRange.end === this.#options.head;
  }

  #describe(part: OutputPart): CapturedOutput {
    const { text, outputLines, outputBytes, shownRange, cutLine } = part;
    const [totalLines, totalBytes] = [this.#totalLines, this.#totalBytes];
    const isCut = this.#isCut(part);
    const byBytes = part.isCutByBytes || (this.#isOverThreshold && !this.#isAsked(part));
    const { id, path: fullOutputPath, problem } = this.#spill ?? {};
    const artifact = id === undefined ? {} : { artifactId: id };

    const remarks: string[] = [];
    if (isCut) {
      const limit = this.#isOverThreshold ? this.#settings.spillThresholdBytes : maxOutputBytes;
      const reason = byBytes ? ` (${sizeText(limit)} limit)` : "";
      remarks.push(`Showing lines ${shownRange.start}-${shownRange.end} of ${totalLines}${reason}`);
      if (cutLine !== undefined) remarks.push(`Line ${cutLine} is cut`);
      if (id !== undefined) remarks.push(`Read artifact://${id} for full output`);
      if (problem) remarks.push(`The full output could not be kept: ${messageOf(problem.cause)}`);
    }
    if (part.isOverwritten) remarks.push("Overwritten progress text is left out");

    const sizes = { totalLines, totalBytes, outputLines, outputBytes };
    if (!isCut) return { text, remarks, ...sizes, ...artifact };
    const truncation: OutputTruncation = {
      direction: this.#options.head === undefined ? "tail" : "head",
      truncatedBy: byBytes ? "bytes" : "lines",
      ...sizes,
      shownRange,
      ...artifact,
    };
    return { text, remarks, ...sizes, ...artifact, fullOutputPath, truncation };
  }
}

interface View {
  readonly windowBytes: number;
  readonly limits: LineLimits;
  /** The end may be half a character that is completed by what comes. */
  readonly isRunning: boolean;
}

// Writes an output to its artifact: in order, one write after another. A failure is kept and reported at the end, never
// thrown: a full disk must not fail a command that did its work.

class OutputSpill {
  readonly #sink: ArtifactSink;
  readonly #toolName: string;
  #writer: ArtifactWriter | undefined;
  #problem: { readonly cause: unknown } | undefined;
  #last = Promise.resolve();

  constructor(sink: ArtifactSink, toolName: string) {
    this.#sink = sink;
    this.#toolName = toolName;
  }

  /** Of an artifact that holds everything so far. */
  get id(): string | undefined {
    return this.#problem ? undefined : this.#writer?.id;
  }

  /** Where it lies on the disk, if it does. */
  get path(): string | undefined {
    return this.#problem ? undefined : this.#writer?.path;
  }

  /** Why there is none. */
  get problem(): { readonly cause: unknown } | undefined {
    return this.#problem;
  }

  /** Resolves when the bytes may be used for something else. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      if (this.#problem) return;
      this.#writer ??= await this.#sink.open(this.#toolName);
      await this.#writer.write(bytes);
    });
  }

  /** To be called once, after the last write. */
  close(): Promise<void> {
    return this.#next(async () => this.#writer?.close());
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((cause: unknown) => {
      this.#problem ??= { cause };
    });
    return this.#last;
  }
}
