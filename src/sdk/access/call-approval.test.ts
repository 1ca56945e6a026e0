import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.js";
import type { SettingValues } from "../../config/settings/layers.js";
import { Settings } from "../../config/settings/settings.js";
import type { AnyTool, ApprovalTier } from "../../tools/tool.js";
import { SessionAccess } from "./access-mode.js";
import { type CallAnswer, createCallPolicy } from "./call-approval.js";

type Values = Record<string, unknown>;

function rig(
  options: ConstructorParameters<typeof SessionAccess>[1] & { answers?: CallAnswer[]; allowExec?: boolean } = {},
  { user = {}, project = {} }: { user?: Values; project?: Values } = {},
) {
  const layer = (values: Values) => new Map(Object.entries(values)) as SettingValues;
  const settings = new Settings({ user: layer(user), project: layer(project) });
  const access = new SessionAccess(settings, options);
  const asked: string[] = [];
  const saved: string[] = [];
  const warned: string[] = [];
  const policy = createCallPolicy(undefined, {
    ...{ access, settings, allowExec: options.allowExec ?? false, root: "/shop", cwd: "/shop" },
    log: { ...silentLog, warn: (text) => void warned.push(text) },
    mask: (text) => text.replaceAll("hush-0123", "[secret:shop]"),
    ask: async ({ lines }) => {
      asked.push(lines.join());
      return options.answers?.shift() ?? { kind: "no" };
    },
    allowForGood: async (line) => void saved.push(line),
  });
  const call = async (tier: ApprovalTier, args: object = { command: "ls" }, more: object = {}) => {
    const tool = { name: tier === "exec" ? "bash" : tier, ...more } as AnyTool;
    const signal = new AbortController().signal;
    const request = { tool, tier, args: args as Record<string, unknown>, signal };
    const verdict = await policy({ ...request, call: { type: "toolCall", id: "c", name: tool.name, arguments: {} } });
    return verdict?.block ?? "runs";
  };
  return { access, asked, saved, warned, call };
}

const no = "Refused by the user: no reason given.";

describe("the policy for calls", () => {
  it("asks as the table says, in every mode of approval", async () => {
    for (const [approval, ...expected] of [
      ["never", "runs", "runs", "runs", "runs"],
      ["unconfined", "runs", "runs", no, "runs"],
      ["ask", "runs", "runs", no, "runs"],
      ["ask-writes", "runs", no, no, no],
    ] as const) {
      const { call } = rig({ access: "workspace", approval });
      const undeclared = { isUndeclared: true };
      expect([await call("read"), await call("write"), await call("exec"), await call("exec", {}, undeclared)]).toEqual(
        expected,
      );
    }
  });

  it("asks about each command while everything is staged, and about no write", async () => {
    const { call, access } = rig({ access: "stage", approval: "ask-writes" });
    expect(access.mode).toBe("stage");
    expect([await call("write"), await call("exec")]).toEqual(["runs", no]);
    expect(await rig({ access: "stage" }).call("exec")).toBe(no);
    expect(await rig({ access: "stage", allowExec: true }).call("exec")).toBe("runs");
  });

  it("refuses commands in read-only unasked, and changes with the mode from the next call on", async () => {
    const { call, access, asked } = rig({ access: "read-only", approval: "unconfined", answers: [{ kind: "once" }] });
    expect(await call("exec")).toMatch(/^Refused: the access mode is read-only/);
    expect(asked).toEqual([]);
    access.choose("workspace");
    expect(await call("exec")).toBe("runs");
    expect(asked).toEqual(["command: ls"]);
  });

  it("remembers a call by its bytes: for this session, or for good", async () => {
    const { call, asked, saved } = rig({
      ...{ access: "workspace", approval: "unconfined" },
      answers: [{ kind: "session" }, { kind: "always" }, { kind: "no", reason: "not that" }],
    });
    for (const command of ["a", "a", "b", "b"]) expect(await call("exec", { command })).toBe("runs");
    expect(await call("exec", { command: "a " })).toBe("Refused by the user: not that");
    expect(asked.length).toBe(3);
    expect(saved).toEqual(['["/shop","bash",{"command":"b"}]']);
  });

  it("knows what an earlier session allowed for good, in this project only", async () => {
    const allow = (root: string) => ({ user: { "approval.allow": [`["${root}","bash",{"command":"ls"}]`] } });
    expect(await rig({ access: "workspace", approval: "ask" }, allow("/shop")).call("exec")).toBe("runs");
    expect(await rig({ access: "workspace", approval: "ask" }, allow("/other")).call("exec")).toBe(no);
  });

  it("lets a project ask for more and never for less", () => {
    const mode = (user: Values, project: Values) => rig({ approval: "unconfined" }, { user, project }).access.approval;
    expect(mode({}, {})).toBe("unconfined");
    expect(mode({}, { "approval.mode": "never" })).toBe("unconfined");
    expect(mode({}, { "approval.mode": "ask" })).toBe("ask");
    expect(mode({ "approval.mode": "never" }, {})).toBe("never");
  });

  it("leaves what was set as it is: a given staging wins over a front end's mode", () => {
    expect(rig({ access: "stage" }, { user: { staging: "auto" } }).access.mode).toBe("full");
    expect(rig({ access: "workspace" }, { project: { staging: "all" } }).access.mode).toBe("stage");
    expect(rig().access.mode).toBe("full");
  });

  it("shows no secret, and keeps none in the settings", async () => {
    const { asked, saved, warned, call } = rig({
      ...{ access: "workspace", approval: "unconfined" },
      answers: [{ kind: "always" }],
    });
    const secret = { command: "curl -H 'x: hush-0123'" };
    expect(await call("exec", secret)).toBe("runs");
    expect(asked).toEqual(["command: curl -H 'x: [secret:shop]'"]);
    expect(saved).toEqual([]);
    expect(warned).toEqual(["Allowed for this session only: the call holds a secret, which settings do not keep."]);
    expect(await call("exec", secret)).toBe("runs"); // not asked again
    expect(await call("exec", { command: "curl -H 'x: [secret:shop]'" })).toBe(no);
  });
});
