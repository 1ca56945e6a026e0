// What an earlier process left pending, found again: its files are looked at, a crash in the middle of a change is mended,
// and a host that comes late still hears of it.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { ChangeWriter } from "../preview/change-writer.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { PendingActions } from "./pending.js";

export interface RestoredActionsDeps {
  readonly log: Log;
  readonly changes: Pick<ChangeWriter, "recover">;
  readonly pending: Pick<PendingActions, "reserve" | "restore" | "flush" | "session">;
  emit(event: AgentSessionEvent): void;
}

export class RestoredActions {
  readonly #deps: RestoredActionsDeps;
  #done: Promise<void> = Promise.resolve();
  #finding: Promise<void> | undefined;
  #isUnderWay = false;
  /** What came of it, until a host listens. */
  #news: AgentSessionEvent[] = [];
  #isHeard = false;

  constructor(deps: RestoredActionsDeps) {
    this.#deps = deps;
  }

  /** For the record that is current now. What was not told of another is nobody's concern any more. */
  begin(): void {
    this.#news = [];
    this.#done = this.#restore();
  }

  /** They have been found, and their files were looked at. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** Until it is known what there is; undefined at any other time. Never rejects. */
  get finding(): Promise<void> | undefined {
    return this.#finding;
  }

  /** An event about something pending. */
  tell(event: AgentSessionEvent): void {
    if (this.#isUnderWay && !this.#isHeard) this.#news.push(event);
    else this.#deps.emit(event);
  }

  /** Somebody listens, or need not any more. */
  tellNews(): void {
    this.#isHeard = true;
    for (const event of this.#news.splice(0)) this.#deps.emit(event);
  }

  async #restore(): Promise<void> {
    const { log, changes, pending } = this.#deps;
    const recovered = changes.recover(pending.session).then(
      () => {},
      (error: unknown) => log.warn(messageOf(error)),
    );
    if (pending.reserve()) {
      this.#isUnderWay = true;
      this.#finding = recovered
        .then(() => pending.restore())
        .catch((error: unknown) => log.error("pending actions could not be restored", error));
      await this.#finding;
      this.#finding = undefined;
    }
    await recovered;
    await pending.flush();
    this.#isUnderWay = false;
  }
}
