import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.js";
import type { SettingValues } from "../../config/settings/layers.js";
import { Settings } from "../../config/settings/settings.js";
import type { AnyTool, ApprovalTier } from "../../tools/tool.js";
import type { Placement } from "../sandbox/session-sandbox.js";
import { SessionAccess } from "./access-mode.js";
import { type CallAnswer, createCallPolicy } from "./call-approval.js";
import type { EscalationQuestion } from "./escalation.js";

type Values = Record<string, unknown>;

function rig(
  options: ConstructorParameters<typeof SessionAccess>[1] & {
    answers?: CallAnswer[];
    allowExec?: boolean;
    /** Default: this machine can neither confine nor stage. */
    placement?: Placement;
    escalate?: (question: EscalationQuestion) => Promise<boolean>;
    isAlone?: boolean;
  } = {},
  { user = {}, project = {} }: { user?: Values; project?: Values } = {},
) {
  const layer = (values: Values) => new Map(Object.entries(values)) as SettingValues;
  const settings = new Settings({ user: layer(user), project: layer(project) });
  const access = new SessionAccess(settings, options);
  const asked: string[] = [];
  const saved: string[] = [];
  const warned: string[] = [];
  const outside: string[] = [];
  const bypassing: Placement = { kind: "bypassing", reason: "No view.", onDisk: { kind: "unconfined" } };
  const sandbox = {
    place: async () => options.placement ?? (access.isReviewed ? bypassing : { kind: "unconfined" as const }),
    allowOutside: (id: string) => void outside.push(id),
  };
  const policy = createCallPolicy(undefined, {
    ...{ access, sandbox, settings, allowExec: options.allowExec ?? false, root: "/shop", cwd: "/shop" },
    log: { ...silentLog, warn: (text) => void warned.push(text) },
    mask: (text) => text.replaceAll("hush-0123", "[secret:shop]"),
    user: {
      askEscalation: options.escalate,
      askCall: options.isAlone
        ? undefined
        : async ({ lines, isConfined }) => {
            asked.push(`${lines.join()}${isConfined ? " (confined)" : ""}`);
            return options.answers?.shift() ?? { kind: "no" };
          },
    },
    allowForGood: async (line) => void saved.push(line),
  });
  const call = async (tier: ApprovalTier, args: object = { command: "ls" }, more: object = {}) => {
    const tool = {
      name: tier === "exec" ? "bash" : tier,
      ...(tier === "exec" ? { isCommand: true } : {}),
      ...more,
    } as AnyTool;
    const signal = new AbortController().signal;
    const request = { tool, tier, args: args as Record<string, unknown>, signal };
    const verdict = await policy({ ...request, call: { type: "toolCall", id: "c", name: tool.name, arguments: {} } });
    return verdict?.block ?? "runs";
  };
  return { access, asked, saved, outside, warned, call };
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
      const undeclared = { name: "custom", isCommand: undefined, isUndeclared: true };
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

  it("runs a confined command unasked, and asks about it from ask on; the same in the view", async () => {
    for (const placement of [
      { kind: "confined", mode: "workspace" },
      { kind: "staged", mode: "workspace" },
    ] as const) {
      const access = placement.kind === "staged" ? "stage" : "workspace";
      expect(await rig({ access, approval: "unconfined", placement }).call("exec")).toBe("runs");
      const { call, asked } = rig({ access, approval: "ask", placement });
      expect(await call("exec")).toBe(no);
      expect(asked).toEqual(["command: ls (confined)"]);
    }
  });

  it("refuses what cannot be confined as asked, whatever the approval", async () => {
    const placement = { kind: "refused", text: "Commands need the sandbox." } as const;
    expect(await rig({ access: "workspace", placement }).call("exec")).toBe("Commands need the sandbox.");
  });

  it("without a user refuses commands that no view can hold, and says why; other calls of the tier too", async () => {
    const { call } = rig({ access: "stage", isAlone: true });
    const text = "Refused: commands bypass staging. Use --allow-exec to permit them.";
    expect(await call("exec")).toBe(`${text} Staging commands is not possible here: No view.`);
    expect(await call("exec", {}, { name: "deploy", isCommand: undefined })).toBe(text);
    expect(await rig({ access: "stage", isAlone: true, allowExec: true }).call("exec")).toBe("runs");
    const readOnly = rig({ access: "read-only", isAlone: true, placement: { kind: "confined", mode: "read-only" } });
    expect(await readOnly.call("exec")).toBe("runs");
    expect(await readOnly.call("exec", {}, { name: "deploy", isCommand: undefined })).toBe(text);
  });

  it("runs a custom tool that declares nothing, also while everything is staged", async () => {
    const undeclared = { name: "custom", isCommand: undefined, isUndeclared: true };
    expect(await rig({ access: "stage", isAlone: true }).call("exec", {}, undeclared)).toBe("runs");
  });

  it("changes with the mode from the next call on", async () => {
    const { call, access, asked } = rig({ access: "stage", approval: "never", answers: [] });
    expect(await call("exec")).toBe(no);
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
});

describe("X-8: escalation", () => {
  const placement = { kind: "confined", mode: "workspace" } as const;
  const args = { command: "npm publish --dry-run\n# all of it", escalate: "needs the registry" };
  const refused = "Refused: the user did not allow this command outside the sandbox.";

  it("shows the whole command and the model's words; a yes is for this call only", async () => {
    const shown: unknown[] = [];
    const { call, outside } = rig({
      ...{ access: "workspace", placement },
      escalate: async ({ signal: _signal, ...question }) => {
        shown.push(question);
        return true;
      },
    });
    expect(await call("exec", args)).toBe("runs");
    expect(shown).toEqual([{ toolCallId: "c", command: args.command, cwd: "/shop", reason: "needs the registry" }]);
    expect(outside).toEqual(["c"]);
    expect(await call("exec", args)).toBe("runs");
    expect(shown).toHaveLength(2);
  });

  it.each([
    ["no user", undefined],
    ["no", async () => false],
    ["silence", async () => undefined as never],
    ["a broken answer", async () => "yes" as never],
    ["a failed question", () => Promise.reject(new Error("gone"))],
  ])("is refused by %s", async (_name, escalate) => {
    const { call, outside } = rig({ access: "workspace", placement, ...(escalate ? { escalate } : {}) });
    expect(await call("exec", args)).toBe(refused);
    expect(outside).toEqual([]);
  });

  it("is refused in stage unasked, and means nothing where commands are not confined", async () => {
    const escalate = async () => expect.fail("asked");
    const staged = rig({ access: "stage", placement: { kind: "staged", mode: "workspace" }, escalate });
    expect(await staged.call("exec", args)).toMatch(/^Refused: in stage a command outside the sandbox/);
    expect(await rig({ access: "full", escalate }).call("exec", args)).toBe("runs");
    const other = { name: "custom", isCommand: undefined };
    expect(await rig({ access: "workspace", placement, escalate }).call("exec", args, other)).toBe("runs");
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
