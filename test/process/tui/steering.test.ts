// Acceptance 1: a prompt, a streamed answer, messages for the run under way, and stopping it.

import { beforeAll, describe, expect, it } from "vitest";
import { Gate, openAi } from "../../../src/testing/index.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { createTerminalRig, type TerminalRig, textOf } from "../../kit/terminal-rig.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

/** The roles and texts of the messages of the only session. */
function onRecord({ sessions }: TerminalRig): string[] {
  const [entries = []] = sessions();
  return entries.flatMap(({ type, message }) =>
    type === "message" && message ? [`${message.role}: ${textOf(message.content)}`] : [],
  );
}

const waiting = (gate: Gate, before: string, after: string) => ({
  steps: [openAi.chunk({ content: before }), gate.step, openAi.chunk({ content: after }), ...openAi.finish("stop")],
});

describe.skipIf(!tmuxVersion)(`messages for a run${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("steers, follows up in that order, and stops with the queue back in the editor", async () => {
    const [first, last] = [new Gate(), new Gate()];
    const rig = await createTerminalRig(
      [
        waiting(first, "The first ", "answer."),
        openAi.text("Steered."),
        openAi.text("Followed."),
        waiting(last, "Long ", ""),
      ],
      { args: [] },
    );
    const { terminal } = rig;
    expect(await terminal.shows("acme/scripted")).toMatch(/galley \S+ · ~\/shop · \? for keys/);
    terminal.write("begin");
    terminal.keys("Enter");
    await first.reached;
    await terminal.shows("The first");
    await terminal.shows(/Answering\s+esc to stop/);
    terminal.write("later, please");
    terminal.keys("M-Enter");
    await terminal.shows(/⏵ queued: later, please\s+alt\+up takes it back/);
    terminal.write("turn left");
    terminal.keys("Enter");
    await terminal.shows("queued: turn left");
    expect(onRecord(rig)).toEqual(["user: begin"]);
    first.open();
    await terminal.shows("Followed.");
    await terminal.until((screen) => !screen.includes("queued:"));
    expect(rig.said()).toEqual([["begin"], ["begin", "turn left"], ["begin", "turn left", "later, please"]]);
    const done = [
      "user: begin",
      "assistant: The first answer.",
      "user: turn left",
      "assistant: Steered.",
      "user: later, please",
      "assistant: Followed.",
    ];
    expect(onRecord(rig)).toEqual(done);

    terminal.write("go on");
    terminal.keys("Enter");
    await last.reached;
    await terminal.shows(/^ Long$/m);
    terminal.write("first thing");
    terminal.keys("Enter");
    await terminal.shows("queued: first thing");
    terminal.write("second thing");
    terminal.keys("M-Enter");
    await terminal.shows("queued: second thing");
    terminal.write("typed");
    await terminal.shows("typed");
    terminal.keys("Escape");
    const stopped = await terminal.shows("Stopped.");
    expect(stopped).not.toContain("queued:");
    await terminal.shows(/first thing\n\n? *second thing\n\n? *typed/);
    await terminal.until((screen) => !screen.includes("esc to stop"));
    expect(onRecord(rig).slice(done.length)).toEqual(["user: go on", "assistant: Long "]);
    expect(rig.server.requests).toHaveLength(4);
  });

  it("gives queued messages back with Alt+Up, and sends nothing of them", async () => {
    const gate = new Gate();
    const rig = await createTerminalRig([waiting(gate, "Well ", "done.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("begin");
    terminal.keys("Enter");
    await gate.reached;
    terminal.write("/queue not yet");
    terminal.keys("Enter");
    await terminal.shows("queued: not yet");
    terminal.keys("M-Up");
    await terminal.until((screen) => !screen.includes("queued:") && screen.includes("not yet"));
    gate.open();
    await terminal.shows("Well done.");
    await terminal.until((screen) => !screen.includes("esc to stop"));
    expect(rig.said()).toEqual([["begin"]]);
  });
});
