// The staged view of the record that a session works in now: each record has its own, made for the first command that is
// staged in it.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { StageView } from "../../files/layer/stage-view.js";
import { foldPending } from "../../pending/pending-entries.js";
import type { PendingRecord } from "../../pending/read-pending.js";
import type { StageState } from "./session-sandbox.js";

export interface CurrentViewDeps {
  open(request: { readonly sessionId: string; hasPending(): boolean }): Promise<StageView>;
  /** What is pending in it on the disk outlives the process. A session that ends has forgotten it already. */
  record(): PendingRecord & { readonly isOnDisk: boolean };
}

interface Held {
  readonly id: string;
  readonly view: Promise<StageView>;
  opened?: StageView;
}

function hasPlans({ isOnDisk, tree, sessionId }: ReturnType<CurrentViewDeps["record"]>): boolean {
  return isOnDisk && foldPending(tree.pathTo(), sessionId).open.some(({ kind }) => kind === "plan");
}

export class CurrentView {
  readonly #deps: CurrentViewDeps;
  #held: Held | undefined;

  constructor(deps: CurrentViewDeps) {
    this.#deps = deps;
  }

  async probe(): Promise<StageState> {
    try {
      return { mechanism: (await this.get()).mechanism };
    } catch (error) {
      const { reason } = (GalleyError.is(error, "unsupported") ? error.details : {}) as { reason?: unknown };
      return { mechanism: "none", reason: typeof reason === "string" ? reason : messageOf(error) };
    }
  }

  async get(): Promise<StageView> {
    const { sessionId } = this.#deps.record();
    if (this.#held?.id === sessionId) return this.#held.view;
    void this.close();
    return this.#hold(sessionId);
  }

  /** The view that shows what file tools see, too; undefined until a command was staged. */
  get opened(): StageView | undefined {
    const held = this.#held;
    return held?.id === (held && this.#deps.record().sessionId) ? held?.opened : undefined;
  }

  async close(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    const view = await held?.view.catch(() => undefined); // there was none
    await view?.close();
  }

  #hold(id: string): Promise<StageView> {
    const { open, record } = this.#deps;
    // Whether something is pending in another session is not known here: its layer stays until the next start looks.
    const hasPending = () => record().sessionId !== id || hasPlans(record());
    const held: Held = { id, view: open({ sessionId: id, hasPending }) };
    this.#held = held;
    held.view.then(
      (view) => {
        held.opened = view;
      },
      () => {
        if (this.#held === held) this.#held = undefined; // the next command tries again
      },
    );
    return held.view;
  }
}
