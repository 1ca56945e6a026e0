// How a session's commands are run: the bash tool's, the user's and the host's, and those of a project's extensions. The
// working mode says where; what was staged, taken away or blocked is told with the output.

import { GalleyError } from "../../base/errors.js";
import type { Effect, StageView } from "../../files/layer/stage-view.js";
import type { PendingActions } from "../../pending/pending-actions.js";
import type { PlannedEffects } from "../../plans/effects/plan-effects.js";
import type { Box, BoxRules } from "../../processes/sandbox/box.js";
import type { CommandEnd, CommandNotes, CommandPlace, CommandWish, Confinement } from "../../tools/confinement.js";
import type { SessionAccess } from "../access/access-mode.js";
import type { WantedBox } from "./box-rules.js";
import { confinedNotes } from "./command-notes.js";
import type { Confinement as OnDisk, SessionSandbox } from "./session-sandbox.js";

export interface SessionCommandsDeps {
  readonly access: SessionAccess;
  readonly sandbox: SessionSandbox;
  box(wanted: WantedBox): Promise<Box>;
  /** The view of the session that is current. */
  view(): Promise<StageView>;
  plan(effects: readonly Effect[], staged: readonly string[]): Promise<PlannedEffects>;
}

type Ran<End> = Promise<{ end: End; notes: CommandNotes }>;

export class SessionCommands implements Confinement {
  readonly #deps: SessionCommandsDeps;
  #pending: PendingActions | undefined;

  constructor(deps: SessionCommandsDeps) {
    this.#deps = deps;
  }

  /** Where staged commands go, once the session is made. */
  attach(pending: PendingActions): void {
    this.#pending = pending;
  }

  get isSerial(): boolean {
    return this.#deps.access.isReviewed;
  }

  get endsBackground(): boolean {
    const { access, sandbox } = this.#deps;
    return access.isReviewed || sandbox.state.mode !== "off";
  }

  async run<End extends CommandEnd>(wish: CommandWish, start: (place: CommandPlace) => Promise<End>): Ran<End> {
    const { sandbox } = this.#deps;
    const isOutside = wish.toolCallId !== undefined && sandbox.takeOutside(wish.toolCallId);
    if (wish.isUnsandboxed || isOutside) return this.#onDisk(wish, { kind: "unconfined" }, start);
    const placement = await sandbox.place({ stage: wish.stage ?? false });
    if (placement.kind === "staged") return this.#staged(wish, start, placement.mode);
    return this.#onDisk(wish, placement.kind === "bypassing" ? placement.onDisk : placement, start);
  }

  async #onDisk<End extends CommandEnd>(
    { toolCallId }: CommandWish,
    how: OnDisk,
    start: (place: CommandPlace) => Promise<End>,
  ): Ran<End> {
    if (how.kind === "refused") throw new GalleyError("unsupported", how.text);
    if (how.kind === "unconfined") return { end: await start({}), notes: { lines: [] } };
    const end = await start({ box: await this.#deps.box({ mode: how.mode }) });
    const mayEscalate = toolCallId !== undefined;
    return { end, notes: { lines: confinedNotes(end, { mayEscalate, mode: how.mode }) } };
  }

  async #staged<End extends CommandEnd>(
    wish: CommandWish,
    start: (place: CommandPlace) => Promise<End>,
    mode: BoxRules["mode"],
  ): Ran<End> {
    const { access, sandbox, box, view, plan } = this.#deps;
    const pending = this.#pending;
    if (!pending) throw new GalleyError("unsupported", "This session cannot stage commands yet.");
    const { runStaged } = await import("./run-staged.js");
    return runStaged(wish, start, {
      view: await view(),
      pending,
      plan,
      mode,
      network: sandbox.network,
      box: (open) => box({ mode, view: open }),
      isForReview: access.isReviewed || wish.toolCallId === undefined,
    });
  }
}
