// The staged views of a session: each record that this process works in has its own; the newest is held, and is made for
// the first command that is staged.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { StageView } from "../../files/layer/stage-view.js";
import type { PendingActions } from "../../pending/pending-actions.js";
import { foldPending } from "../../pending/pending-entries.js";
import type { PendingRecord } from "../../pending/read-pending.js";
import type { StageState } from "./session-sandbox.js";

export interface ConfinedSession {
  readonly pending: PendingActions;
  sessionId(): string;
  /** What is pending on the disk, and so outlives the process. A session that ends has forgotten it already. */
  record(): PendingRecord & { readonly isOnDisk: boolean };
}

export interface SessionViewsDeps {
  open(request: { readonly sessionId: string; hasPending(): boolean }): Promise<StageView>;
}

interface HeldView {
  readonly id: string;
  readonly view: Promise<StageView>;
  opened?: StageView;
}

function hasPlans({ isOnDisk, tree, sessionId }: ReturnType<ConfinedSession["record"]>): boolean {
  return isOnDisk && foldPending(tree.pathTo(), sessionId).open.some(({ kind }) => kind === "plan");
}

export class SessionViews {
  readonly #deps: SessionViewsDeps;
  #session: ConfinedSession | undefined;
  #held: HeldView | undefined;

  constructor(deps: SessionViewsDeps) {
    this.#deps = deps;
  }

  attach(session: ConfinedSession): void {
    this.#session = session;
  }

  async probe(): Promise<StageState> {
    try {
      return { mechanism: (await this.current()).mechanism };
    } catch (error) {
      const { reason } = (GalleyError.is(error, "unsupported") ? error.details : {}) as { reason?: unknown };
      return { mechanism: "none", reason: typeof reason === "string" ? reason : messageOf(error) };
    }
  }

  async current(): Promise<StageView> {
    const session = this.#session;
    if (!session) throw new GalleyError("unsupported", "The session is not ready yet.");
    const id = session.sessionId();
    if (this.#held?.id !== id) {
      void this.close();
      this.#hold(session, id);
    }
    return this.#held?.view as Promise<StageView>;
  }

  /** The view that shows what file tools see, too; undefined until a command was staged. */
  get opened(): StageView | undefined {
    return this.#held?.id === this.#session?.sessionId() ? this.#held?.opened : undefined;
  }

  async close(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    const view = await held?.view.catch(() => undefined); // there was none
    await view?.close();
  }

  #hold(session: ConfinedSession, id: string): void {
    // Whether something is pending in another session is not known here: its layer stays until the next start looks.
    const hasPending = () => session.sessionId() !== id || hasPlans(session.record());
    const held: HeldView = { id, view: this.#deps.open({ sessionId: id, hasPending }) };
    this.#held = held;
    held.view.then(
      (view) => {
        held.opened = view;
      },
      () => {
        if (this.#held === held) this.#held = undefined; // the next command tries again
      },
    );
  }
}
