// When a user who looks elsewhere is told, and how.

import { describe, expect, it } from "vitest";
import { type NotificationKind, Notifier } from "./notifier.js";

function start(kind: NotificationKind = "auto", env: Record<string, string> = {}) {
  const written: string[] = [];
  const timers: { at: number; run: () => void }[] = [];
  let time = 0;
  const notifier = new Notifier({
    kind,
    env,
    now: () => time,
    after: (ms, run) => {
      const timer = { at: time + ms, run };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
    write: (text) => written.push(text),
  });
  const pass = (ms: number) => {
    time += ms;
    for (const timer of timers.filter(({ at }) => at <= time)) timer.run();
  };
  return { notifier, written, pass };
}

const bell = "\u0007";

describe("notifications", () => {
  it.each([
    [false, 10_001, [bell]],
    [false, 9_999, []],
    [true, 60_000, []],
    [undefined, 29_000, []],
    [undefined, 30_001, [bell]],
  ])("focus %s, a run of %d ms", (hasFocus, ms, expected) => {
    const { notifier, written, pass } = start();
    if (hasFocus !== undefined) notifier.focus(hasFocus);
    notifier.runStarted();
    pass(ms);
    notifier.runEnded();
    notifier.runEnded();
    expect(written).toEqual(expected);
  });

  it("tells of a question at once without the focus, after 30 s where focus is unknown, and not once it is answered", () => {
    const away = start();
    away.notifier.focus(false);
    away.notifier.questionWaits(true);
    expect(away.written).toEqual([bell]);
    const blind = start();
    blind.notifier.questionWaits(true);
    blind.pass(29_999);
    expect(blind.written).toEqual([]);
    blind.pass(1);
    expect(blind.written).toEqual([bell]);
    const quick = start();
    quick.notifier.questionWaits(true);
    quick.notifier.questionWaits(false);
    quick.pass(60_000);
    expect(quick.written).toEqual([]);
  });

  it("uses OSC 9 where it is wanted or known, and nothing when it is off", () => {
    const said = (kind: NotificationKind, env = {}) => {
      const { notifier, written } = start(kind, env);
      notifier.focus(false);
      notifier.questionWaits(true);
      return written;
    };
    expect(said("osc9")).toEqual(["\u001b]9;galley: A question waits.\u0007"]);
    expect(said("auto", { TERM_PROGRAM: "WezTerm" })).toEqual(["\u001b]9;galley: A question waits.\u0007"]);
    expect(said("bell", { TERM_PROGRAM: "WezTerm" })).toEqual([bell]);
    expect(said("off")).toEqual([]);
  });
});
