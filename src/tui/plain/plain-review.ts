// `/review` in plain mode: hunk by hunk, the diff and then a question. Promises: what is decided about has been printed;
// a decision names what was seen, so that a change meanwhile decides nothing.

import { messageOf } from "../../base/errors.js";
import type { AgentSession } from "../../sdk/index.js";
import { forUser } from "../../sdk/review/decided.js";
import type { PlainIO } from "./plain-io.js";
import { aboutPlace, filesOf, type Place, placesOf } from "./plain-places.js";

export const reviewQuestion = "apply, discard, skip, file, all, quit?";

type Word = "apply" | "discard" | "skip" | "file" | "all" | "quit";
const words: Readonly<Record<string, Word>> = {
  apply: "apply",
  discard: "discard",
  skip: "skip",
  file: "file",
  all: "all",
  quit: "quit",
  // `a` is apply; the whole action takes a capital letter, as in the review view a larger scope does.
  a: "apply",
  d: "discard",
  s: "skip",
  f: "file",
  A: "all",
  q: "quit",
};

export async function reviewPlainly(session: AgentSession, io: PlainIO): Promise<void> {
  const review = new PlainReview(session, io);
  await review.run();
}

class PlainReview {
  readonly #session: AgentSession;
  readonly #io: PlainIO;
  /** What was printed, and what was passed over, by content: numbers change when a part is decided. */
  readonly #printed = new Set<string>();
  readonly #skipped = new Set<string>();

  constructor(session: AgentSession, io: PlainIO) {
    this.#session = session;
    this.#io = io;
  }

  async run(): Promise<void> {
    if ((await this.#session.getPendingActions()).length === 0) return this.#io.say("galley", "Nothing is pending.");
    for (;;) {
      const place = await this.#next();
      if (!place) return this.#io.say("galley", "The review has ended.");
      this.#print(place);
      if (!(await this.#askAbout(place))) return;
    }
  }

  /** The first hunk that is neither decided nor passed over. */
  async #next(): Promise<Place | undefined> {
    for (const action of await this.#session.getPendingActions({ check: true })) {
      const places = await placesOf(this.#session, action);
      const found = places.find((place) => !this.#skipped.has(keyOf(place)));
      if (found) return found;
    }
    return undefined;
  }

  #print(place: Place): void {
    this.#printed.add(keyOf(place));
    this.#io.say(`preview ${place.action.id}`, aboutPlace(place));
  }

  /** False: the user ends the review. */
  async #askAbout(place: Place): Promise<boolean> {
    for (;;) {
      this.#io.say("question", reviewQuestion);
      const said = (await this.#io.ask())?.trim();
      if (said === undefined) return false;
      const word = words[said] ?? words[said.toLowerCase()];
      if (word === "quit") return false;
      if (word === "skip") {
        this.#skipped.add(keyOf(place));
        return true;
      }
      if (word !== undefined && (await this.#decide(place, word))) return true;
      if (word === undefined) this.#io.say("question", "One of these words, or its first letter; A for all.");
    }
  }

  /** False: it is still open. */
  async #decide(place: Place, word: Exclude<Word, "quit" | "skip">): Promise<boolean> {
    const { action, file, hunk, revision } = place;
    const isWide = word === "file" || word === "all";
    if (isWide && (await this.#printRest(place, word))) return false;
    const part =
      word === "all" || action.kind === "closure"
        ? {}
        : word === "file" || !hunk
          ? { files: filesOf(place) }
          : { hunks: { [file.path]: [hunk.number] } };
    const deed = word === "discard" ? "discard" : "apply";
    const reason = deed === "discard" ? await this.#reason() : "applied in review";
    try {
      const decision = { action: deed, reason, by: "user", pendingId: action.id, ...part } as const;
      const { decided } = await this.#session.resolvePendingAction({ ...decision, ...(revision ? { revision } : {}) });
      const { first, more } = forUser(decided);
      this.#io.say(`preview ${action.id}`, [first, ...more].join("\n"));
      return true;
    } catch (error) {
      this.#io.say(`preview ${action.id}`, messageOf(error));
      return false;
    }
  }

  async #reason(): Promise<string> {
    this.#io.say("question", "Why? An empty line says nothing more.");
    return (await this.#io.ask())?.trim() || "discarded in review";
  }

  /** True: something had not been printed, and is now; the user decides again. */
  async #printRest({ action, file }: Place, scope: "file" | "all"): Promise<boolean> {
    const all = await placesOf(this.#session, action);
    const inScope = all.filter((place) => scope === "all" || place.file.path === file.path);
    const rest = inScope.filter((place) => !this.#printed.has(keyOf(place)));
    for (const place of rest) this.#print(place);
    if (rest.length === 0) return false;
    this.#io.say("question", `${rest.length} more were printed now. Say ${scope} again to apply them all.`);
    return true;
  }
}

function keyOf({ action, file, hunk }: Place): string {
  return JSON.stringify([action.id, file.path, hunk?.lines ?? action.revision]);
}
