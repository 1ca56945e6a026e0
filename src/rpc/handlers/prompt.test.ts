import { describe, expect, it } from "vitest";
import { GalleyError } from "../../base/errors.js";
import { deferred, quiet } from "../../loop/run.test-kit.js";
import type { PromptOptions } from "../../sdk/index.js";
import { manualClock } from "../../testing/manual-clock.js";
import { CommandListUpdates } from "../command-list-updates.js";
import { dialects } from "../dialect.js";
import { Features } from "../features.js";
import type { HandlerContext } from "../handler.js";
import { PromptResults } from "../prompt-results.js";
import { Request } from "../read-request.js";
import { abortAndPrompt, prompt } from "./prompt.js";

type Prompt = (text: string, options: Required<Pick<PromptOptions, "onAccepted" | "onPlaced">>) => Promise<void>;

/** A session that does with a prompt what the test says, and everything that is sent. */
function setUp(run: Prompt, { type = "prompt", features = [] as string[] } = {}) {
  const sent: Record<string, unknown>[] = [];
  const clock = manualClock();
  const agreed = new Features();
  if (features.length > 0) agreed.negotiate(features);
  const outbox = { send: (frame: object) => void sent.push(JSON.parse(JSON.stringify(frame))) };
  const idle = deferred();
  const session = {
    isStreaming: false,
    begunCount: 0,
    lastOutcome: { status: "completed" },
    queuedMessages: [],
    calls: [] as string[],
    options: undefined as PromptOptions | undefined,
    subscribe: () => () => {},
    getCommands: () => [{ name: "fix", source: "extension" }],
    waitForIdle: () => idle.promise,
    abort: async () => void session.calls.push("abort"),
    prompt: (text: string, options: never) => {
      session.calls.push(`prompt ${text}`);
      session.options = options;
      return run(text, options);
    },
  };
  const results = new PromptResults({ features: agreed, ...outbox });
  results.attach(session as never);
  const context = {
    session,
    request: new Request({ type, id: "r1" }, outbox as never, agreed),
    features: agreed,
    dialect: dialects.galley,
    results,
    commandListUpdates: new CommandListUpdates({ features: agreed, ...outbox }),
    clock,
  } as unknown as HandlerContext;
  return { context, session, sent, clock, idle };
}

const command = { type: "prompt", id: "r1", message: "hello" } as const;
const aborting = { ...command, type: "abort_and_prompt" } as const;
const response = { id: "r1", type: "response" };
const success = (disposition = "handled") => ({ ...response, command: "prompt", success: true, data: { disposition } });
const abortedFirst = { ...response, command: "abort_and_prompt", success: true };
const failure = (error: string, type = "prompt") => ({ ...response, command: type, success: false, error });

describe("prompt", () => {
  it("is answered on acceptance, however long the run takes", async () => {
    const run = deferred();
    const { context, sent } = setUp((_, { onAccepted, onPlaced }) => {
      onPlaced({} as never, "run");
      onAccepted();
      return run.promise;
    });
    await prompt(context, command);
    expect(sent).toEqual([success("started")]);
    run.resolve();
    await quiet();
    expect(sent).toEqual([success("started")]);
  });

  it("says that it waits where it waits", async () => {
    const { context, sent } = setUp(async (_, { onAccepted, onPlaced }) => {
      onPlaced({} as never, "queue");
      onAccepted();
    });
    await prompt(context, { ...command, streamingBehavior: "followUp" });
    expect(sent).toEqual([success("queued")]);
  });

  it("is answered at its end where it was never accepted: a command dealt with it", async () => {
    const { context, sent } = setUp(async () => {});
    await prompt(context, command);
    expect(sent).toEqual([success()]);
  });

  it("says in the answer that no agent was asked, to a host that agreed on results", async () => {
    const { context, sent } = setUp(async () => {}, { features: ["prompt-result"] });
    expect(await prompt(context, command)).toEqual({ disposition: "handled", agentInvoked: false });
    expect(sent.filter(({ type }) => type === "prompt_result")).toEqual([]);
  });

  it("fails with a second response behind the success, and with a result", async () => {
    const { context, sent } = setUp(() => Promise.reject(new GalleyError("busy", "Agent is busy.")), {
      features: ["prompt-result"],
    });
    await prompt(context, command);
    expect(sent.slice(0, 3)).toMatchObject([
      success(),
      failure("Agent is busy."),
      { type: "prompt_result", id: "r1", status: "error", error: { message: "Agent is busy.", retryable: true } },
    ]);
  });

  it("hands on the images and how it is queued, and tells of new commands at its end", async () => {
    const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
    const { context, session, sent } = setUp(
      async (_, { onAccepted }) => {
        onAccepted();
      },
      { features: ["echo-ids"] },
    );
    await prompt(context, { ...command, images: [image], streamingBehavior: "steer" });
    expect(session.options).toMatchObject({ images: [image], streamingBehavior: "steer" });
    await quiet();
    expect(sent.at(-1)).toMatchObject({ type: "available_commands_update", commands: [{ name: "fix" }] });
  });
});

describe("abort_and_prompt", () => {
  it("stops the run first, and is answered as a prompt is", async () => {
    const { context, session, sent } = setUp(
      async (_, { onAccepted }) => {
        onAccepted();
      },
      { type: "abort_and_prompt" },
    );
    await abortAndPrompt(context, aborting);
    expect(session.calls).toEqual(["abort", "prompt hello"]);
    expect(sent).toEqual([abortedFirst]);
  });

  it("does not hold the lane for a tool that must not be cut short: the prompt waits for its end", async () => {
    const { context, session, sent, idle, clock } = setUp(async () => {}, { type: "abort_and_prompt" });
    session.isStreaming = true;
    await abortAndPrompt(context, aborting);
    expect(sent).toEqual([abortedFirst]);
    expect(session.calls).toEqual(["abort"]);
    idle.resolve();
    await quiet();
    expect(session.calls).toEqual(["abort", "prompt hello"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("gives up after thirty seconds, with a failure behind the success", async () => {
    const { context, session, sent, clock } = setUp(async () => {}, { type: "abort_and_prompt" });
    session.isStreaming = true;
    await abortAndPrompt(context, aborting);
    clock.advance(29_999);
    await quiet();
    expect(sent).toHaveLength(1);
    clock.advance(1);
    await quiet();
    const text = "Timed out waiting for prior agent run to finish before prompting.";
    expect(sent).toEqual([abortedFirst, failure(text, "abort_and_prompt")]);
    expect(session.calls).toEqual(["abort"]);
  });
});
