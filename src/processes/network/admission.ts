// May this target be reached, and at which addresses? The allow list first, then the user if there is one to ask, then the
// addresses of the name. A name that is not allowed is never looked up: a lookup tells strangers its text.

import type { Clock } from "../../base/clock.js";
import type { BoxReport } from "../sandbox/box.js";
import { addressKind } from "./address-kind.js";
import { type HostEntry, isListed, isLocalName, mayDial } from "./allow-list.js";
import type { Dialer } from "./dial.js";
import { hostText, type Target, targetText } from "./host.js";

export type HostAnswer = "once" | "session" | "always" | "no";

/**
 * Asks the user about one `host:port`. `once` holds for the gate's one command, and a gate makes no difference between the
 * three kinds of yes: the caller keeps what is for longer. The signal fires when the answer no longer matters.
 */
export type DecideHost = (host: string, signal: AbortSignal) => Promise<HostAnswer>;

export type Admission =
  | { readonly addresses: readonly string[] }
  /** The text after `galley: `, and the status that goes with it. */
  | { readonly refusal: string; readonly status: 403 | 502 };

export interface AdmissionOptions {
  readonly hosts: readonly HostEntry[];
  readonly decide?: DecideHost | undefined;
  readonly clock: Clock;
  readonly dialer: Dialer;
  readonly signal: AbortSignal;
}

/** An answer that does not come is a no. */
const answerMs = 120_000;
/** A command that tries many hosts must not fill the user's screen with questions. */
const maxQuestions = 10;
const maxBlocked = 100;
const maxShown = 100;
const loopbackAddresses: readonly string[] = ["127.0.0.1", "::1"];
const yes: ReadonlySet<unknown> = new Set(["once", "session", "always"]);

export class HostAdmission {
  readonly #options: AdmissionOptions;
  readonly #questions = new Map<string, Promise<boolean>>();
  readonly #blocked = new Map<string, number>();
  #hosts: readonly HostEntry[];

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#hosts = options.hosts;
  }

  async admit(target: Target): Promise<Admission> {
    if (!isListed(this.#hosts, target) && !(await this.#isAllowedByUser(target)))
      return this.refuse(targetText(target));
    let addresses: readonly string[];
    try {
      addresses = await this.#addressesOf(target);
    } catch {
      return { refusal: `cannot resolve ${hostText(target.host)}`, status: 502 };
    }
    // One address that must not be reached is enough: the name leads there when it likes.
    const closed = addresses.find((address) => !mayDial(this.#hosts, target, address));
    return closed === undefined ? { addresses } : this.refuse(addressText(closed, target.port));
  }

  /** `host:port` as the program wrote it, or as it was found. */
  refuse(host: string): Admission {
    const shown = printable(host);
    const times = this.#blocked.get(shown);
    if (times !== undefined || this.#blocked.size < maxBlocked) this.#blocked.set(shown, (times ?? 0) + 1);
    return { refusal: `${shown} is not in bash.hosts`, status: 403 };
  }

  blocked(): BoxReport["blocked"] {
    return [...this.#blocked].map(([host, times]) => ({ host, times }));
  }

  async #addressesOf({ host }: Target): Promise<readonly string[]> {
    if (host.kind === "address") return [host.text];
    return isLocalName(host) ? loopbackAddresses : this.#options.dialer.addressesOf(host.text);
  }

  /** Each target once; requests for it wait for the same answer. */
  #isAllowedByUser(target: Target): Promise<boolean> {
    const { decide } = this.#options;
    const text = targetText(target);
    const asked = this.#questions.get(text);
    if (asked !== undefined) return asked;
    if (decide === undefined || !mayAsk(target) || this.#questions.size >= maxQuestions) return Promise.resolve(false);
    const answer = this.#ask(decide, target);
    this.#questions.set(text, answer);
    return answer;
  }

  async #ask(decide: DecideHost, target: Target): Promise<boolean> {
    const { clock, signal } = this.#options;
    const over = new AbortController();
    const ended = AbortSignal.any([over.signal, signal]);
    const cancel = clock.after(answerMs, () => over.abort());
    const silence = new Promise<HostAnswer>((resolve) =>
      ended.aborted ? resolve("no") : ended.addEventListener("abort", () => resolve("no"), { once: true }),
    );
    try {
      const answer = await Promise.race([decide(targetText(target), ended), silence]);
      if (!yes.has(answer) || signal.aborted) return false;
      this.#hosts = [...this.#hosts, { host: target.host, isSuffix: false, port: target.port }];
      return true;
    } catch {
      return false; // a question that failed was not answered with yes
    } finally {
      cancel();
      over.abort();
    }
  }
}

/** Where credentials are handed out, only the user's own file decides. */
function mayAsk({ host }: Target): boolean {
  return host.kind === "name" || !["link-local", "unusable"].includes(addressKind(host.text));
}

function addressText(address: string, port: number): string {
  return targetText({ host: { kind: "address", text: address }, port });
}

/** The text comes from the command, and ends on screens. What is before an @ may be a password. */
function printable(text: string): string {
  const open = text.replace(/^.*@/s, "…@");
  const cut = open.length > maxShown ? `${open.slice(0, maxShown)}…` : open;
  return cut.replace(/[^\x21-\x7e…]/g, "?");
}
