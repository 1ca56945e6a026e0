// The bash tool with real processes.

import { afterAll, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { systemClock } from "../base/clock.js";
import { silentLog } from "../base/log.js";
import { createNodeProcesses } from "../processes/node-processes.js";
import type { ToolResult } from "../protocol/events.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createBash } from "./bash.js";
import { recordingSink } from "./output/output.test-kit.js";
import { runCommand } from "./output/run-command.js";
import type { OnUpdate } from "./tool.js";

const directory = temporaryDirectory();
const processes = createNodeProcesses({ env: process.env, log: silentLog });
const sink = recordingSink();
const tool = createBash({
  workspace: createMemoryWorkspace({}, { cwd: directory }),
  processes,
  artifacts: sink,
  clock: systemClock,
});

afterAll(async () => {
  await processes.shutdown();
});

type Params = Parameters<typeof tool.execute>[1];

async function bash(
  params: Params,
  { signal, onUpdate = () => {} }: { signal?: AbortSignal; onUpdate?: OnUpdate } = {},
) {
  const result = await tool.execute("call", params, signal, onUpdate, { cwd: directory });
  return { ...result, text: textOf(result) };
}

const textOf = ({ content }: ToolResult) => content.map((block) => (block.type === "text" ? block.text : "")).join();

it("runs in the working directory with the variables it was given", async () => {
  expect((await bash({ command: 'pwd; echo "$MODE"', env: { MODE: "fast" } })).text).toBe(`${directory}\nfast`);
});

it("tells an exit code, and both streams", async () => {
  const { text, isError } = await bash({ command: "echo out; echo err >&2; exit 3" });
  expect(text).toMatch(/^(out\nerr|err\nout)\n\nCommand exited with code 3$/);
  expect(isError).toBe(true);
});

it("keeps all of a long output in order", async () => {
  const { text } = await bash({ command: "seq 1 200000" });
  const id = /artifact:\/\/(\d+)/.exec(text)?.[1] ?? "";
  expect(text).toContain("200000\n\n[Showing lines 199501-200000 of 200000 (50KB limit). ");
  expect(sink.bytes(id).toString()).toBe(`${Array.from({ length: 200_000 }, (_, index) => index + 1).join("\n")}\n`);
});

it("stops at the timeout", async () => {
  const { text } = await bash({ command: "echo begun; sleep 60", timeout: 1 });
  expect(text).toBe("begun\n\nCommand timed out after 1 seconds");
});

it("stops when it is told to", async () => {
  const abort = new AbortController();
  const { text } = await bash(
    { command: "echo begun; sleep 60" },
    { signal: abort.signal, onUpdate: () => abort.abort() },
  );
  expect(text).toBe("begun\n\nCommand aborted");
});

it("stops a program that prints for ever", async () => {
  const heard: string[] = [];
  const outcome = await runCommand(
    { processes, artifacts: sink, maxOutputBytes: 1024 ** 2 },
    { command: "yes galley", cwd: directory, onChunk: (text) => heard.push(text) },
  );
  expect(outcome.stopped).toEqual({ by: "output", sentence: "Command stopped: it printed more than 1MB" });
  expect(sink.bytes(outcome.output.artifactId ?? "").length).toBe(1024 ** 2);
  expect(heard.join("").startsWith("galley\ngalley\n")).toBe(true);
});
