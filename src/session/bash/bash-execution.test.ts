import { describe, expect, it } from "vitest";
import type { BashExecutionMessage } from "../../protocol/messages.js";
import { manualClock } from "../../testing/manual-clock.js";
import { BashExecutions, type BashHome, type BashRunOutcome, type BashRunRequest } from "./bash-execution.js";

function captured(text: string, more: Partial<BashRunOutcome["output"]> = {}): BashRunOutcome["output"] {
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  const bytes = Buffer.byteLength(text);
  return { text, totalLines: lines, totalBytes: bytes, outputLines: lines, outputBytes: bytes, ...more };
}

const exited = (text: string, exitCode = 0): BashRunOutcome => ({ exitCode, output: captured(text) });

/** A session whose runs begin and end when the test says. */
function session(run: BashHome["run"], overrides: Partial<BashHome> = {}) {
  const messages: BashExecutionMessage[] = [];
  const warnings: string[] = [];
  let active: { settled: Promise<void>; settle: () => void } | undefined;
  const executions = new BashExecutions({
    clock: manualClock(),
    log: { warn: (text) => warnings.push(text), error() {} },
    home: () => ({
      run,
      isStreaming: () => active !== undefined,
      append: (message) => messages.push(message),
      artifactPath: async () => undefined,
      release() {},
      ...overrides,
    }),
    whenIdle: () => active?.settled ?? Promise.resolve(),
  });
  const begin = () => {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    active = { settled, settle };
  };
  const end = () => {
    const ended = active;
    active = undefined;
    ended?.settle();
  };
  const commands = () => messages.map(({ command }) => command);
  return { executions, messages, warnings, commands, begin, end };
}

const tick = () => new Promise(setImmediate);

describe("a command", () => {
  it("gives its result and becomes a message", async () => {
    const { executions, messages } = session(async () => exited("alpha\nbeta\n"));
    expect(await executions.execute("ls")).toEqual({
      output: "alpha\nbeta\n",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      totalLines: 2,
      totalBytes: 11,
      outputLines: 2,
      outputBytes: 11,
    });
    expect(messages).toEqual([
      {
        role: "bashExecution",
        command: "ls",
        output: "alpha\nbeta\n",
        exitCode: 0,
        cancelled: false,
        truncated: false,
        timestamp: 1_767_600_000_000,
      },
    ]);
  });

  it("that fails is a result like any other", async () => {
    const { executions, messages } = session(async () => exited("no\n", 3));
    expect(await executions.execute("x", undefined, { excludeFromContext: true })).toMatchObject({ exitCode: 3 });
    expect(messages).toMatchObject([{ exitCode: 3, cancelled: false, excludeFromContext: true }]);
  });

  it("that cannot be started is no message", async () => {
    const { executions, messages } = session(async () => {
      throw new Error("no shell");
    });
    await expect(executions.execute("x")).rejects.toThrow("no shell");
    expect(messages).toEqual([]);
    expect(executions.isRunning).toBe(false);
  });

  it("with long output names its artifact and how much there was", async () => {
    const truncation = { direction: "tail", artifactId: "4" };
    const output = captured("end\n", { totalLines: 9000, totalBytes: 90_000, artifactId: "4", truncation });
    const run = async () => ({ exitCode: 0, output });
    const artifactPath = async (id: string) => `/sessions/${id}.bash.log`;
    const { executions, messages } = session(run, { artifactPath });
    expect(await executions.execute("x")).toMatchObject({
      truncated: true,
      totalLines: 9000,
      outputLines: 1,
      artifactId: "4",
      fullOutputPath: "/sessions/4.bash.log",
    });
    expect(messages).toMatchObject([{ truncated: true, meta: { truncation } }]);
    expect(await session(run).executions.execute("x")).not.toHaveProperty("fullOutputPath");
  });

  it("is heard while it runs", async () => {
    const heard: string[] = [];
    const { executions } = session(async ({ onChunk }) => {
      onChunk?.("a");
      onChunk?.("b");
      return exited("ab");
    });
    await executions.execute("x", (text) => heard.push(text));
    expect(heard).toEqual(["a", "b"]);
  });

  it.each([
    ["timeout", "Command timed out after 9 seconds", "begun\nCommand timed out after 9 seconds"],
    ["output", "Command stopped: it printed more than 256MB", "begun\nCommand stopped: it printed more than 256MB"],
  ] as const)("stopped by %s has no exit code and says so", async (by, sentence, output) => {
    for (const text of ["begun", "begun\n"]) {
      const stopped = { by, sentence };
      const { executions, messages } = session(async () => ({ exitCode: 143, stopped, output: captured(text) }));
      const result = await executions.execute("x");
      expect(result).toMatchObject({ output, cancelled: true });
      expect(result.exitCode).toBeUndefined();
      expect(messages).toMatchObject([{ output, cancelled: true }]);
      expect(JSON.stringify(messages[0])).not.toContain("exitCode");
    }
  });
});

/** Runs until it is aborted. */
function untilAborted({ signal }: BashRunRequest): Promise<BashRunOutcome> {
  const stopped = { by: "abort", sentence: "Command aborted" } as const;
  return new Promise((resolve) => {
    const end = () => resolve({ exitCode: 143, stopped, output: captured("") });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}

describe("abort", () => {
  it("ends every command that runs or waits, each with its result", async () => {
    const { executions, commands } = session(untilAborted);
    expect(executions.isRunning).toBe(false);
    executions.abort();
    const results = [executions.execute("one"), executions.execute("two")];
    expect(executions.isRunning).toBe(true);
    executions.abort();
    for (const result of await Promise.all(results))
      expect(result).toMatchObject({ output: "Command cancelled", cancelled: true });
    expect(executions.isRunning).toBe(false);
    expect(commands()).toEqual(["one", "two"]);
  });

  it("does not touch a command that comes later", async () => {
    const { executions } = session(untilAborted);
    const first = executions.execute("one");
    executions.abort();
    const second = executions.execute("two");
    await first;
    expect(executions.isRunning).toBe(true);
    executions.abort();
    await second;
  });
});

describe("while a run is active", () => {
  it("results wait until it has settled, in their order", async () => {
    const { executions, commands, begin, end } = session(async () => exited(""));
    begin();
    await executions.execute("one");
    await executions.execute("two");
    await tick();
    expect(commands()).toEqual([]);
    end();
    await tick();
    expect(commands()).toEqual(["one", "two"]);
    await executions.execute("three");
    expect(commands()).toEqual(["one", "two", "three"]);
  });

  it("they also wait for a run that begins at once after it", async () => {
    const { executions, commands, begin, end } = session(async () => exited(""));
    begin();
    await executions.execute("one");
    end();
    begin();
    await tick();
    expect(commands()).toEqual([]);
    end();
    await tick();
    expect(commands()).toEqual(["one"]);
  });

  it("a prompt takes them along before it begins, once", async () => {
    const { executions, commands, begin, end } = session(async () => exited(""));
    begin();
    await executions.execute("one");
    end();
    executions.flush();
    begin();
    expect(commands()).toEqual(["one"]);
    await executions.execute("two");
    end();
    await tick();
    expect(commands()).toEqual(["one", "two"]);
  });

  it("one that came after the end goes behind those that waited", async () => {
    const { executions, commands, begin, end } = session(async () => exited(""));
    begin();
    await executions.execute("one");
    end();
    const second = executions.execute("two");
    await second;
    expect(commands()).toEqual(["one", "two"]);
  });

  it("a result that cannot be recorded is reported", async () => {
    const { executions, warnings, begin, end } = session(async () => exited(""), {
      append: () => {
        throw new Error("closed");
      },
    });
    begin();
    await executions.execute("one");
    end();
    await tick();
    expect(warnings).toEqual(["a command's result was not added to the session: closed"]);
  });
});
