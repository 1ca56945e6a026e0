// The record that a session works on at the moment, and what is derived from it. Operations that exchange it run one at
// a time: of two at once, one would leave a record open that no part of the program knows of.

import type { SessionRecord } from "../record/record.js";
import { resolveImages } from "../record/store/blobs.js";
import type { ArtifactSource } from "../tools/tool.js";
import { ModelMessages } from "./model-messages.js";

export class CurrentRecord {
  readonly #blocksImages: boolean | undefined;
  readonly #onMoved: SessionRecord["onMoved"];
  #record: SessionRecord;
  #modelMessages: ModelMessages;
  #lastOperation: Promise<unknown> = Promise.resolve();

  constructor(
    record: SessionRecord,
    { blocksImages, onMoved }: { blocksImages: boolean | undefined; onMoved: SessionRecord["onMoved"] },
  ) {
    this.#record = record;
    this.#blocksImages = blocksImages;
    this.#onMoved = onMoved;
    record.onMoved = onMoved;
    this.#modelMessages = new ModelMessages({ blocksImages });
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /** The conversation in the form a model takes. */
  get modelMessages(): ModelMessages {
    return this.#modelMessages;
  }

  /** What a change is remembered by: the file that holds the session, or the session itself. */
  get owner(): string {
    return this.#record.sessionFile ?? this.#record.sessionId;
  }

  /** Those of the record that is current when they are asked for. */
  readonly artifacts: ArtifactSource = artifactsOf(() => this.#record);

  /** Nothing is under way. The caller closes the old one. */
  enter(record: SessionRecord): void {
    this.#record = record;
    record.onMoved = this.#onMoved;
    this.#modelMessages = new ModelMessages({ blocksImages: this.#blocksImages });
  }

  exclusively<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = this.#lastOperation.then(operation);
    this.#lastOperation = result.catch(() => {}); // the caller gets the error
    return result;
  }

  loadImages(): Promise<void> {
    const { context, blobs } = this.#record;
    return this.#modelMessages.loadImages(context, (message) => resolveImages(message, blobs));
  }
}

export function artifactsOf(record: () => SessionRecord): ArtifactSource {
  return {
    open: (toolName) => record().artifacts.open(toolName),
    readBytes: (id, maxBytes) => record().artifacts.readBytes(id, maxBytes),
  };
}
