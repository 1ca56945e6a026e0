import { describe, expect, it } from "vitest";
import { plainTheme } from "../../sdk/index.js";
import { QuestionDialog } from "./question-dialog.js";
import { type Dialog, QuestionQueue } from "./question-queue.js";

function rig(rows = 20) {
  let now = 0;
  const queue = new QuestionQueue(() => now);
  const shown: (Dialog | undefined)[] = [];
  const left: string[] = [];
  let isFree = true;
  queue.attach({ show: (dialog) => shown.push(dialog), isFree: () => isFree, leave: () => left.push("left") });
  const ask = (lines: string[] = ["text"], signal?: AbortSignal) =>
    queue.ask<string>(
      (close) =>
        new QuestionDialog(
          {
            ...{ title: "Go?", facts: [], lines, none: "no" },
            choices: [
              { key: "y", label: "yes", needsWhole: true, answer: () => "yes" },
              { key: "n", label: "no", asksReason: true, answer: (reason) => `no: ${reason}` },
            ],
          },
          {
            theme: plainTheme,
            rows: () => rows,
            waiting: () => queue.waiting,
            openView: () => {},
            closeView: () => {},
          },
          close,
        ),
      { none: "no", signal },
    );
  const draw = () => shown.at(-1)?.render(60) ?? [];
  return {
    queue,
    shown,
    left,
    ask,
    draw,
    pass: (ms: number) => {
      now += ms;
    },
    occupy: (isTaken: boolean) => {
      isFree = !isTaken;
    },
    type: (...keys: string[]) => {
      for (const key of keys) {
        draw();
        queue.handleInput(key);
      }
    },
  };
}

describe("questions", () => {
  it("come one at a time in their order, and say how many wait", async () => {
    const { ask, draw, pass, type } = rig();
    const [first, second] = [ask(["one"]), ask(["two"])];
    expect(draw().join("\n")).toContain("1 more waits");
    pass(300);
    type("y");
    expect(await first).toBe("yes");
    expect(draw().join("\n")).toMatch(/two/);
    expect(draw().join("\n")).not.toContain("more wait");
    pass(300);
    type("n", "l", "a", "t", "e", "r", "\r");
    expect(await second).toBe("no: later");
  });

  it("take no key of their first 300 ms as an answer, each its own", async () => {
    const { ask, pass, type, shown } = rig();
    const [first, second] = [ask(), ask()];
    type("y");
    pass(299);
    type("y", "\u001b");
    expect(shown.length).toBe(1);
    pass(1);
    type("y", "y");
    expect(await first).toBe("yes");
    pass(300);
    type("\u001b");
    expect(await second).toBe("no");
  });

  it("end with no by Esc, Ctrl-C, a signal, and the end of the program; a second Ctrl-C leaves", async () => {
    const { ask, pass, type, queue, left } = rig();
    const stop = new AbortController();
    const answers = [ask(), ask(), ask([], stop.signal), ask(), ask([], AbortSignal.abort())];
    pass(300);
    type("\u001b");
    pass(300);
    type("\u0003");
    expect(left).toEqual([]);
    stop.abort();
    type("\u0003");
    expect(left).toEqual(["left"]);
    queue.close();
    expect(await Promise.all(answers)).toEqual(["no", "no", "no", "no", "no"]);
  });

  it("wait while something else has the editor's place", async () => {
    const { ask, queue, shown, occupy, pass, type } = rig();
    occupy(true);
    const answer = ask();
    expect(shown).toEqual([]);
    occupy(false);
    queue.advance();
    pass(300);
    type("y");
    expect(await answer).toBe("yes");
  });

  it("take a yes only once the last line has been on the screen", async () => {
    const { ask, pass, type, draw } = rig();
    const answer = ask(Array.from({ length: 30 }, (_, index) => `line ${index + 1}`));
    pass(300);
    type("y");
    expect(draw().join("\n")).toContain("Not all of it was on the screen yet");
    type("\u001b[6~", "y");
    expect(draw().join("\n")).toContain("was on the screen yet");
    type("\u001b[F");
    expect(draw().join("\n")).toContain("line 30");
    type("y");
    expect(await answer).toBe("yes");
  });

  it("count nothing as seen that a small window cannot show", async () => {
    const { ask, pass, type, draw, shown } = rig(6);
    void ask(["rm -rf everything"]);
    pass(300);
    type("y", "\u001b[F", "y");
    expect(draw().join("\n")).not.toContain("everything");
    expect(shown.length).toBe(1);
  });

  it("take a paste for no answer", async () => {
    const { ask, pass, type, shown } = rig();
    void ask();
    pass(300);
    type("\u001b[200~y\u001b[201~");
    expect(shown.length).toBe(1);
  });
});
