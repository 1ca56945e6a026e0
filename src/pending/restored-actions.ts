// What an earlier process left pending, found again: its files are checked, a crash in the middle of a change is
// repaired, and a host that subscribes late is still told.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { PendingActions } from "./pending-actions.js";

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
  /** Events to send once a host listens. */
  #news: AgentSessionEvent[] = [];
  #isHeard = false;

  constructor(deps: RestoredActionsDeps) {
    this.#deps = deps;
  }

  /** For the record that is current now. Untold events about another record are dropped. */
  begin(): void {
    this.#news = [];
    this.#done = this.#restore();
  }

  /** They have been found, and their files were checked. */
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

  /** A host listens now, or no longer needs the events. */
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
