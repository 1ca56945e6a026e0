import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import fc from "fast-check";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { runs } from "../../test/kit/runs.js";
import type { JsonObject } from "../base/json.js";
import { checkCommand } from "./check-command.js";
import { commandSchemaByType, type RpcCommandType } from "./commands.js";

const types = Object.keys(commandSchemaByType) as RpcCommandType[];
const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
const task = { content: "Map it", status: "pending" };

describe("sentences for bad arguments", () => {
  const cases: [JsonObject, string][] = [
    [{ type: "prompt" }, "Invalid prompt: message must be a string"],
    [{ type: "prompt", message: null }, "Invalid prompt: message must be a string"],
    [{ type: "prompt", message: ["Hi"] }, "Invalid prompt: message must be a string"],
    [{ type: "prompt", message: "Hi", images: "a.png" }, "Invalid prompt: images must be an array of image blocks"],
    [
      { type: "prompt", message: "Hi", images: [image, { ...image, data: 1 }] },
      "Invalid prompt: images must be an array of image blocks",
    ],
    [
      { type: "prompt", message: "Hi", streamingBehavior: "later" },
      'Invalid prompt: streamingBehavior must be "steer" or "followUp"',
    ],
    [{ type: "steer", message: 1 }, "Invalid steer: message must be a string"],
    [{ type: "follow_up" }, "Invalid follow_up: message must be a string"],
    [{ type: "abort_and_prompt" }, "Invalid abort_and_prompt: message must be a string"],
    [{ type: "new_session", parentSession: {} }, "Invalid new_session: parentSession must be a string"],
    [{ type: "set_todos", phases: {} }, "Invalid set_todos: phases must be an array"],
    [{ type: "set_todos", phases: ["one"] }, "Invalid set_todos: phases[0] must be an object"],
    [{ type: "set_todos", phases: [{ name: " " }] }, "Invalid set_todos: phases[0].name must be a non-empty string"],
    [
      { type: "set_todos", phases: [{ name: "A" }, { name: "B", tasks: [task, { content: "" }] }] },
      "Invalid set_todos: phases[1].tasks[1].content must be a non-empty string",
    ],
    [
      { type: "set_todos", phases: [{ name: "A", tasks: [task, { ...task, status: "done" }] }] },
      "Invalid set_todos: phases[0].tasks[1].status must be one of pending, in_progress, completed, abandoned",
    ],
    [{ type: "set_host_tools" }, "Invalid set_host_tools: tools must be an array"],
    [{ type: "set_event_filter" }, "Invalid set_event_filter: events must be an array of strings or null"],
    [{ type: "set_model", provider: "acme" }, "Invalid set_model: modelId must be a string"],
    [
      { type: "set_thinking_level", level: "ultra" },
      "Invalid set_thinking_level: level must be one of off, minimal, low, medium, high, xhigh",
    ],
    [{ type: "set_steering_mode", mode: "some" }, 'Invalid set_steering_mode: mode must be "all" or "one-at-a-time"'],
    [{ type: "set_follow_up_mode" }, 'Invalid set_follow_up_mode: mode must be "all" or "one-at-a-time"'],
    [{ type: "set_interrupt_mode", mode: "all" }, 'Invalid set_interrupt_mode: mode must be "immediate" or "wait"'],
    [{ type: "set_auto_compaction", enabled: "yes" }, "Invalid set_auto_compaction: enabled must be a boolean"],
    [{ type: "set_auto_retry" }, "Invalid set_auto_retry: enabled must be a boolean"],
    [{ type: "set_budget", maxTurns: 0 }, "Invalid set_budget: maxTurns must be a whole number from 1, or null"],
    [{ type: "set_budget", maxTokens: 1.5 }, "Invalid set_budget: maxTokens must be a whole number from 1, or null"],
    [
      { type: "set_budget", maxCost: 0 },
      "Invalid set_budget: maxCost must be a number of dollars from 0.0001, or null",
    ],
    [{ type: "bash" }, "Invalid bash: command must be a string"],
    [{ type: "set_session_name", name: 7 }, "Invalid set_session_name: name must be a string"],
    [
      { type: "negotiate_protocol", protocolVersion: "2" },
      "Invalid negotiate_protocol: protocolVersion must be a number",
    ],
    [
      { type: "negotiate_protocol", protocolVersion: 1, features: ["echo-ids", 1] },
      "Invalid negotiate_protocol: features must be an array of strings",
    ],
    [
      { type: "resolve_pending_action", action: "maybe" },
      'Invalid resolve_pending_action: action must be "apply" or "discard"',
    ],
    [
      { type: "resolve_pending_action", action: "apply", reason: "ok", hunks: { "a.ts": [0] } },
      "Invalid resolve_pending_action: hunks must be an object of hunk numbers by path",
    ],
    [{ type: "get_changes", limit: 0 }, "Invalid get_changes: limit must be a positive integer"],
  ];
  test.each(cases)("%j", (frame, problem) => {
    expect(checkCommand(frame)).toEqual({ ok: false, kind: "invalid", type: frame.type, problem });
  });
});

describe("what comes out", () => {
  test("known members only, as a copy, without the id", () => {
    const frame = { id: "r1", type: "prompt", message: "Hi", images: [{ ...image, extra: 1 }], locale: "hi" };
    const checked = checkCommand(frame);
    expect(checked).toEqual({ ok: true, command: { type: "prompt", message: "Hi", images: [image] } });
    expect(checked.ok && checked.command.type === "prompt" && checked.command.images).not.toBe(frame.images);
  });

  test("optional members sent as null are absent, at every depth", () => {
    const phases = [{ id: null, name: "A", tasks: [{ ...task, notes: null }] }];
    expect(checkCommand({ type: "set_todos", phases })).toEqual({
      ok: true,
      command: { type: "set_todos", phases: [{ name: "A", tasks: [task] }] },
    });
    expect(checkCommand({ type: "compact", customInstructions: null })).toEqual({
      ok: true,
      command: { type: "compact" },
    });
  });

  test("null stays where it means something", () => {
    const filter = { type: "set_event_filter", events: null };
    expect(checkCommand(filter)).toEqual({ ok: true, command: filter });
    const decision = { type: "resolve_pending_action", action: "apply", reason: "ok", extra: { flag: null } };
    expect(checkCommand(decision)).toEqual({ ok: true, command: decision });
  });

  test("`inherit` is a thinking level for this command only", () => {
    const frame = { type: "set_thinking_level", level: "inherit" };
    expect(checkCommand(frame)).toEqual({ ok: true, command: frame });
  });

  test("names that reach a prototype are copied nowhere, also not into open values", () => {
    const text = `{"type":"set_host_tools","__proto__":{"polluted":1},"tools":[{"name":"a","__proto__":{"polluted":1},
      "parameters":{"constructor":{"prototype":{"polluted":1}},"properties":{"prototype":1,"kept":[{"__proto__":1}]}}}]}`;
    const checked = checkCommand(JSON.parse(text));
    const command = { type: "set_host_tools", tools: [{ name: "a", parameters: { properties: { kept: [{}] } } }] };
    expect(JSON.stringify(checked)).toBe(JSON.stringify({ ok: true, command }));
    const decision = `{"type":"resolve_pending_action","action":"apply","reason":"ok","hunks":{"__proto__":[1],"a":[1]}}`;
    expect(JSON.stringify(checkCommand(JSON.parse(decision)))).toContain('"hunks":{"a":[1]}');
  });
});

test.each(["", "frobnicate", "__proto__", "constructor", "toString", "hasOwnProperty", "Prompt"])(
  "the type %j is unknown",
  (type) => {
    expect(checkCommand(Object.fromEntries([["type", type]]))).toEqual({ ok: false, kind: "unknown", type });
  },
);

test("a frame without a string type is unknown, not an exception", () => {
  for (const frame of [{}, { type: null }, { type: 1 }, { type: ["prompt"] }])
    expect(checkCommand(frame)).toEqual({ ok: false, kind: "unknown", type: "" });
});

describe("any frame at all", () => {
  // Half of the members hold what some command wants, so that frames also pass or fail late.
  const plausible = fc.constantFrom<unknown>(
    ...["Hi", "steer", "all", "wait", "high", "apply", true, 1, 0, [], ["a"], [image], {}, { a: [1] }, { a: "b" }],
    [{ name: "A" }],
    [{ name: "A", tasks: [task] }],
    [{ name: "A", tasks: [{ content: "x", status: "lost" }] }],
  );
  const fields = [...new Set(types.flatMap((type) => Object.keys(commandSchemaByType[type].properties)))];
  const key = fc.oneof(fc.constantFrom(...fields, "__proto__", "constructor", "prototype"), fc.string());
  const frames = (value: fc.Arbitrary<unknown>) =>
    fc
      .tuple(fc.constantFrom(...types), fc.array(fc.tuple(key, value), { maxLength: 8 }))
      .map(([type, members]): JsonObject => Object.fromEntries([...members, ["type", type]]));

  test("gives known members or a sentence, never throws, and leaves the prototypes alone", () => {
    const before = prototypeMembers();
    fc.assert(
      fc.property(frames(fc.oneof(plausible, fc.jsonValue())), (frame) => {
        const type = frame.type as RpcCommandType;
        const checked = checkCommand(frame);
        if (checked.ok) {
          const known = Object.keys(commandSchemaByType[type].properties).filter((name) => name !== "id");
          expect(known).toEqual(expect.arrayContaining(Object.keys(checked.command)));
          expect(Object.getPrototypeOf(checked.command)).toBe(Object.prototype);
          expect(Check(commandSchemaByType[type], checked.command)).toBe(true);
        } else {
          const problem = checked.kind === "invalid" ? checked.problem : "";
          expect(problem).toMatch(
            new RegExp(`^Invalid ${type}: [a-zA-Z]+(\\[\\d+\\]|\\.[a-zA-Z]+)* must be (a|an|one|") ?`),
          );
        }
      }),
      { seed: 1, numRuns: runs(2000) },
    );
    expect(prototypeMembers()).toEqual(before);
  });

  test("is judged as the schema library judges it", () => {
    const verdicts = { true: 0, false: 0 };
    fc.assert(
      fc.property(frames(plausible), (frame) => {
        const { id: _, ...rest } = frame;
        const expected = Check(commandSchemaByType[frame.type as RpcCommandType], rest);
        expect(checkCommand(frame).ok).toBe(expected);
        verdicts[`${expected}`]++;
      }),
      { seed: 1, numRuns: runs(3000) },
    );
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(runs(3000) / 10);
  });
});

test("a frame twice as long is read twice as often, no more", () => {
  const readsOf = (length: number) => {
    let reads = 0;
    const counting: ProxyHandler<object> = {
      get(target, name) {
        reads++;
        return Reflect.get(target, name);
      },
    };
    const phases = Array.from({ length }, () => new Proxy({ name: "A", tasks: new Proxy([task], counting) }, counting));
    const checked = checkCommand({ type: "set_todos", phases: new Proxy([...phases, "last"], counting) });
    expect(checked).toMatchObject({ problem: `Invalid set_todos: phases[${length}] must be an object` });
    return reads;
  };
  expect(readsOf(2_000)).toBeGreaterThan(2_000);
  expect(readsOf(2_000)).toBeLessThanOrEqual(2 * readsOf(1_000));
});

test("the check brings no library with it", async () => {
  const entryPoints = [fileURLToPath(new URL("check-command.ts", import.meta.url))];
  const { metafile } = await build({ entryPoints, bundle: true, write: false, metafile: true, format: "esm" });
  const files = Object.keys(metafile.inputs).map((path) => path.split("/").at(-1));
  expect(files.sort()).toEqual(["check-command.ts", "command-schemas.json", "json.ts"]);
});

function prototypeMembers() {
  return [Object, Array, Function, String].map((base) => Reflect.ownKeys(base.prototype));
}
