import { describe, expect, it } from "vitest";
import { validateArguments } from "../loop/validate-arguments.js";
import type { ProcessEnd, Processes } from "../processes/processes.js";
import type { ToolResult } from "../protocol/events.js";
import { manualClock } from "../testing/manual-clock.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { type BashDeps, createBash } from "./bash.js";
import { recordingSink, type ScriptedChild, scriptedProcesses } from "./output/output.test-kit.js";

type Play = (child: ScriptedChild) => ProcessEnd | Promise<ProcessEnd>;

function bashWith(play: Play, overrides: Partial<BashDeps> = {}) {
  const processes = scriptedProcesses(play);
  const clock = manualClock();
  const sink = recordingSink();
  const updates: ToolResult[] = [];
  const tool = createBash({
    workspace: createMemoryWorkspace({ "src/a.ts": "", "/outside/": "" }),
    processes,
    artifacts: sink,
    clock,
    ...overrides,
  });
  const execute = (params: Parameters<typeof tool.execute>[1], signal?: AbortSignal) =>
    tool.execute("call", params, signal, (partial) => updates.push(partial), { cwd: "/project" });
  return { tool, execute, processes, clock, sink, updates };
}

const textOf = ({ content }: ToolResult) => content.map((block) => (block.type === "text" ? block.text : "")).join();

const printing =
  (output: string, exitCode = 0): Play =>
  async ({ print }) => {
    await print(output);
    return { exitCode };
  };

describe("results", () => {
  it("give stdout and stderr together", async () => {
    const { execute, processes } = bashWith(async ({ print }) => {
      await print("out\n");
      await print("err\n", "stderr");
      return { exitCode: 0 };
    });
    expect(await execute({ command: "make" })).toEqual({
      content: [{ type: "text", text: "out\nerr" }],
      details: { timeoutSeconds: 300, exitCode: 0 },
    });
    expect(processes.requests).toMatchObject([
      { command: { shell: "make" }, cwd: "/project", env: {}, timeoutMs: 300_000 },
    ]);
  });

  it("say when there is no output", async () => {
    expect(textOf(await bashWith(() => ({ exitCode: 0 })).execute({ command: "true" }))).toBe("(no output)");
    const failed = await bashWith(() => ({ exitCode: 1 })).execute({ command: "false" });
    expect(textOf(failed)).toBe("(no output)\n\nCommand exited with code 1");
  });

  it("are errors for another exit code, with details", async () => {
    expect(await bashWith(printing("oops\n", 2)).execute({ command: "x", timeout: 5 })).toEqual({
      content: [{ type: "text", text: "oops\n\nCommand exited with code 2" }],
      details: { timeoutSeconds: 5, exitCode: 2 },
      isError: true,
    });
  });

  it("are stripped of escape sequences; the artifact is not", async () => {
    const line = "\u001b[31mred\u001b[0m \u001b]0;title\u0007\n";
    const { execute, sink } = bashWith(printing(line.repeat(4000)));
    const result = await execute({ command: "x" });
    expect(textOf(result)).toBe(
      `${"red \n".repeat(500).trimEnd()} \n\n[Showing lines 3501-4000 of 4000 (50KB limit). Read artifact://1 for full output]`,
    );
    expect(result.details).toMatchObject({ meta: { truncation: { totalLines: 4000, artifactId: "1" } } });
    expect(sink.bytes("1").toString()).toBe(line.repeat(4000));
  });

  it("put the notice before the exit code", async () => {
    const result = await bashWith(printing("a\nb\nc\n", 3)).execute({ command: "x", head: 1 });
    expect(textOf(result)).toBe("a\n\n[Showing lines 1-1 of 3]\n\nCommand exited with code 3");
  });

  it("give the last lines where asked", async () => {
    const result = await bashWith(printing("a\nb\nc\n")).execute({ command: "x", tail: 2 });
    expect(textOf(result)).toBe("b\nc\n\n[Showing lines 2-3 of 3]");
  });
});

describe("commands that are stopped", () => {
  it("by an abort say so after the output so far", async () => {
    const abort = new AbortController();
    const { execute } = bashWith(async ({ print, stopped }) => {
      await print("begun\n");
      abort.abort();
      await stopped;
      return { exitCode: 143, stopped: "aborted" };
    });
    expect(await execute({ command: "x" }, abort.signal)).toEqual({
      content: [{ type: "text", text: "begun\n\nCommand aborted" }],
      details: { timeoutSeconds: 300, exitCode: 143 },
      isError: true,
    });
  });

  it("by the timeout say how long it was", async () => {
    const { execute } = bashWith(async ({ print }) => {
      await print("begun");
      return { exitCode: 143, stopped: "timed_out" };
    });
    expect(textOf(await execute({ command: "x", timeout: 7 }))).toBe("begun\n\nCommand timed out after 7 seconds");
  });

  it("by endless output say so, and the artifact has all that is allowed", async () => {
    const sink = recordingSink({ keepsBytes: false });
    const chunk = Buffer.alloc(1024 ** 2, "0123456\n");
    const { execute } = bashWith(
      async ({ print, request }) => {
        while (!request.signal?.aborted) await print(chunk);
        await print("more, on the way out");
        return { exitCode: 143, stopped: "aborted" };
      },
      { artifacts: sink },
    );
    const result = await execute({ command: "yes" });
    expect(textOf(result)).toMatch(
      /0123456\n\n\[Showing lines 33553933-33554432 of 33554432 \(50KB limit\)\. Read artifact:\/\/1 for full output\]\n\nCommand stopped: it printed more than 256MB$/,
    );
    expect(sink.writtenBytes).toBe(256 * 1024 ** 2);
    expect(result.isError).toBe(true);
  });

  it("leave no listener on the signal", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await bashWith(printing("x")).execute({ command: "x" }, signal);
    expect(listeners).toBe(0);
  });
});

it.each([
  [undefined, undefined, 300],
  [0, undefined, 1],
  [-5, undefined, 1],
  [1e9, undefined, 3600],
  [10, 0, 10],
  [500, 60, 60],
])("a timeout of %s with a highest of %s is %s", async (timeout, maxTimeoutSeconds, expected) => {
  const { execute, processes } = bashWith(printing(""), { settings: { maxTimeoutSeconds } });
  const result = await execute({ command: "x", ...(timeout === undefined ? {} : { timeout }) });
  expect(result.details).toMatchObject({ timeoutSeconds: expected });
  expect(processes.requests[0]?.timeoutMs).toBe(expected * 1000);
});

describe("progress", () => {
  it("comes at once, then at most every 100 ms with the newest lines", async () => {
    const seen: string[][] = [];
    const made = bashWith(async ({ print }) => {
      const look = () => seen.push(made.updates.map(textOf));
      await print("one\n");
      look();
      for (const word of ["two\n", "three\n", "four\n"]) await print(word);
      look();
      made.clock.advance(100);
      look();
      made.clock.advance(100); // nothing new, so nothing is told
      look();
      await print("five\n");
      look();
      await print("six\n");
      return { exitCode: 0 };
    });
    await made.execute({ command: "x" });
    const [first, second, third] = ["one", "one\ntwo\nthree\nfour", "one\ntwo\nthree\nfour\nfive"];
    expect(seen).toEqual([[first], [first], [first, second], [first, second], [first, second, third]]);
    made.clock.advance(1000);
    expect(made.updates.length).toBe(3);
    expect(made.clock.pendingTimers).toBe(0);
  });

  it("is no longer than a tail", async () => {
    const { execute, updates } = bashWith(printing("0123456\n".repeat(100_000)));
    await execute({ command: "x" });
    expect(textOf(updates[0] as ToolResult)).toBe("0123456\n".repeat(500).trimEnd());
    expect(updates[0]?.details).toMatchObject({
      meta: { truncation: { shownRange: { start: 99_501, end: 100_000 } } },
    });
  });
});

describe("where and with what it runs", () => {
  it("is a directory that may be written to", async () => {
    const { execute, processes } = bashWith(printing(""));
    await execute({ command: "x", cwd: "src" });
    expect(processes.requests[0]?.cwd).toBe("/project/src");
  });

  it.each([
    ["nowhere", "Working directory does not exist: nowhere"],
    ["/no\u001bwhere", /control character/],
    ["src/a.ts", "Working directory is not a directory: src/a.ts"],
    ["/outside", "Working directory is outside the directories that may be written to: /outside"],
    ["..", "Working directory is outside the directories that may be written to: .."],
  ])("refuses %j", async (cwd, sentence) => {
    const { execute, processes } = bashWith(printing(""));
    await expect(execute({ command: "x", cwd })).rejects.toThrow(sentence);
    expect(processes.requests).toEqual([]);
  });

  it("has the variables that were given", async () => {
    const { execute, processes } = bashWith(printing(""));
    await execute({ command: "x", env: { MODE: "fast" } });
    expect(processes.requests[0]?.env).toEqual({ MODE: "fast" });
  });

  it.each(["PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "MY_TOKEN", "A=B", ""])("refuses to set %j", async (name) => {
    const { execute, processes } = bashWith(printing(""));
    await expect(execute({ command: "x", env: { [name]: "1" } })).rejects.toThrow(`Invalid bash env name: ${name}`);
    expect(processes.requests).toEqual([]);
  });

  it("refuses what no program can be given", async () => {
    const { execute } = bashWith(printing(""));
    const sentence = "The command and its environment must not contain NUL characters.";
    await expect(execute({ command: "a\0b" })).rejects.toThrow(sentence);
    await expect(execute({ command: "a", env: { A: "\0" } })).rejects.toThrow(sentence);
  });

  it("tells why a command could not be started, with the artifact closed", async () => {
    const { execute, sink } = bashWith(async ({ print }) => {
      await print("x".repeat(60_000));
      throw new Error("no such shell");
    });
    await expect(execute({ command: "x" })).rejects.toThrow("no such shell");
    expect(sink.artifacts).toMatchObject([{ isClosed: true }]);
  });
});

describe("arguments", () => {
  const { tool } = bashWith(printing(""));
  const prepare = (args: Record<string, unknown>) => tool.prepareArguments?.(args);

  it("that this version cannot honour are refused", () => {
    expect(() => prepare({ command: "x", pty: true })).toThrow(
      "pty is not available in this version: commands run without a terminal.",
    );
    expect(() => prepare({ command: "x", async: "true" })).toThrow(
      "async is not available in this version: run the command without it and wait for its end.",
    );
    expect(prepare({ command: "x", pty: false, async: null })).toEqual({ command: "x" });
  });

  it.each([
    [{ command: "ls", timeout: "5", head: 3, env: { A: "1" } }, true],
    [{ command: "  " }, false],
    [{}, false],
    [{ command: "ls", head: 0 }, false],
    [{ command: "ls", tail: 1.5 }, false],
    [{ command: "ls", env: { A: 1 } }, false],
    [{ command: "x".repeat(100_001) }, false],
  ])("%j: valid %s", (args, isValid) => {
    expect(validateArguments("bash", tool.parameters, args).ok).toBe(isValid);
  });

  it("ask for the right to run programs, alone", () => {
    const { approval, concurrency } = tool;
    expect([approval, typeof concurrency === "function" && concurrency()]).toEqual(["exec", "exclusive"]);
  });
});

it("hands the promise of the artifact on, so that the child is held", async () => {
  const returned: unknown[] = [];
  const processes: Processes = {
    async run(request) {
      for (const size of [50_000, 50_000]) returned.push(request.onOutput?.(Buffer.alloc(size, 0x61), "stdout"));
      await returned[1];
      return { exitCode: 0 };
    },
    shutdown: async () => {},
  };
  await bashWith(printing(""), { processes }).execute({ command: "x" });
  expect(returned[0]).toBeUndefined();
  expect(returned[1]).toBeInstanceOf(Promise);
});
