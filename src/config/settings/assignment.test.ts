import { describe, expect, it } from "vitest";
import { layerOf, nameOf, parseAssignment, readAssignment } from "./assignment.js";

const usage = (message: string) => expect.objectContaining({ code: "usage", message });

describe("parseAssignment", () => {
  it.each([
    ["retry.maxRetries=5", { key: "retry.maxRetries", value: 5 }],
    ["todo.enabled=off", { key: "todo.enabled", value: false }],
    ["shellPath=/a=b", { key: "shellPath", value: "/a=b" }],
    ["enabledModels=a,b", { key: "enabledModels", value: ["a", "b"] }],
    ["modelRoles.smol=acme/small", { key: "modelRoles", member: "smol", value: "acme/small" }],
    ['modelRoles={"a":"b"}', { key: "modelRoles", value: { a: "b" } }],
    ["retry.fallbackChains.a=b,c", { key: "retry.fallbackChains", member: "a", value: ["b", "c"] }],
    ["bash.hosts=a.example, localhost:5432", { key: "bash.hosts", value: ["a.example", "localhost:5432"] }],
    ["bash.hide=~/vault", { key: "bash.hide", value: ["~/vault"] }],
    ["temperature=-1", { key: "temperature", value: -1 }],
    ["compaction.strategy=handoff", { key: "compaction.strategy", value: "context-full" }],
  ])("reads %j by the setting's type", (word, assignment) => expect(parseAssignment(word)).toEqual(assignment));

  it.each([
    ["retry.maxRetries", '--set needs KEY=VALUE, not "retry.maxRetries".'],
    ["steeringMode=bogus", 'steeringMode must be one of all, one-at-a-time, not "bogus".'],
    ["retry.maxRetries=many", 'retry.maxRetries must be a whole number from 0 to 100, not "many".'],
    ["stearingMode=all", 'Unknown setting "stearingMode", did you mean steeringMode?'],
    ["x=1", 'Unknown setting "x".'],
    ["cycleOrder=a", "cycleOrder has no effect in this version."],
    ["task.agentModelOverrides.x=y", "task.agentModelOverrides.x has no effect in this version."],
    ["queueMode=all", "queueMode is an old name, use steeringMode."],
    ["modelRoles.__proto__=x", 'Unknown setting "modelRoles.__proto__".'],
    ["access=everything", 'access must be one of full, workspace, stage, read-only, not "everything".'],
    [
      "bash.hosts=a.example,https://user:hunter2@b.example/",
      'bash.hosts: expected a host: a name, *.suffix or an address, with :port or without, not "…@b.example/".',
    ],
    ["bash.hide=vault", 'bash.hide: expected an absolute path, or one below ~/, not "vault".'],
    ["bash.environment=sk-secret", "bash.environment must be an object of texts."],
  ])("refuses %j", (word, message) => expect(() => parseAssignment(word)).toThrow(usage(message)));
});

it("readAssignment takes the value from a word of its own", () => {
  expect(readAssignment("todo.reminders.max", "7")).toEqual({ key: "todo.reminders.max", value: 7 });
});

it("nameOf knows settings and members only", () => {
  expect(nameOf("bash.environment.A")).toEqual({ key: "bash.environment", member: "A" });
  expect(() => nameOf("todo")).toThrow(usage('Unknown setting "todo".'));
});

it("layerOf: the last assignment wins, members are merged", () => {
  const words = ["todo.eager=1", "modelRoles.a=x", "todo.eager=0", "modelRoles.b=y"];
  expect(Object.fromEntries(layerOf(words.map(parseAssignment)))).toEqual({
    "todo.eager": false,
    modelRoles: { a: "x", b: "y" },
  });
});

it.each([
  [{ key: "staging", value: "al" }, "staging must be"],
  [{ key: "stagin", value: "all" }, 'Unknown setting "stagin", did you mean staging?'],
  [{ key: "retry.maxRetries", value: "many" }, "retry.maxRetries must be"],
  [{ key: "bash.environment", member: "A", value: 7 }, "bash.environment.A must be"],
  [{ key: "bash.environment", member: "__proto__", value: "x" }, 'Unknown setting "bash.environment.__proto__"'],
])("layerOf refuses %o of a program", (assignment, told) => {
  const given = [assignment as Parameters<typeof layerOf>[0][number]];
  expect(() => layerOf(given)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  expect(() => layerOf(given)).toThrow(told);
});
