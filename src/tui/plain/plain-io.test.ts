// Which of those that wait for a line gets it.

import { describe, expect, it } from "vitest";
import { LineReader } from "./plain-io.js";

const typed = { isKept: false };

describe("a line", () => {
  it("answers the question that waits, also when the prompt has waited longer", async () => {
    const lines = new LineReader();
    const prompt = lines.nextPrompt();
    const question = lines.next();
    lines.take("4", typed);
    expect(await question).toBe("4");
    lines.take("go on", typed);
    expect(await prompt).toBe("go on");
  });

  it("answers it when the prompt began to wait after it", async () => {
    const lines = new LineReader();
    const question = lines.next();
    const prompt = lines.nextPrompt();
    lines.take("1", typed);
    lines.take("go on", typed);
    expect(await Promise.all([question, prompt])).toEqual(["1", "go on"]);
  });

  it("goes to the prompt once the question was called off", async () => {
    const lines = new LineReader();
    const stop = new AbortController();
    const prompt = lines.nextPrompt();
    const question = lines.next(stop.signal);
    stop.abort();
    lines.take("go on", typed);
    expect(await Promise.all([question, prompt])).toEqual([undefined, "go on"]);
  });

  it("that none waits for is kept or handed on", async () => {
    const lines = new LineReader();
    const handed: string[] = [];
    lines.onLine = (line) => void handed.push(line);
    lines.take("kept", { isKept: true });
    lines.take("handed on", typed);
    expect(await lines.nextPrompt()).toBe("kept");
    expect(handed).toEqual(["handed on"]);
  });

  it("comes no more after the end, for the question and for the prompt", async () => {
    const lines = new LineReader();
    const waiting = [lines.nextPrompt(), lines.next()];
    lines.end();
    expect(await Promise.all([...waiting, lines.next(), lines.nextPrompt()])).toEqual(Array(4).fill(undefined));
  });
});
