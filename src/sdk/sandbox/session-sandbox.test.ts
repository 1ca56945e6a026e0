import { describe, expect, it } from "vitest";
import { Settings } from "../../config/settings/settings.js";
import type { SandboxProbe } from "../../processes/sandbox/box.js";
import { type AccessChoice, SessionAccess } from "../access/access-mode.js";
import { notTriedText, SessionSandbox, type StageState } from "./session-sandbox.js";

function rig(
  choice: AccessChoice,
  {
    probe = { mechanism: "bubblewrap" },
    stage = { mechanism: "overlay" },
  }: { probe?: SandboxProbe; stage?: StageState } = {},
) {
  const access = new SessionAccess(new Settings(), choice);
  const warnings: string[] = [];
  const tried: string[] = [];
  const sandbox = new SessionSandbox({
    access,
    network: () => "off",
    probe: async () => {
      tried.push("sandbox");
      return probe;
    },
    probeStage: async () => {
      tried.push("stage");
      return stage;
    },
    warn: (text) => void warnings.push(text),
  });
  return { access, sandbox, warnings, tried };
}

const none = { probe: { mechanism: "none", reason: "No namespaces." } } as const;
const noView = { stage: { mechanism: "none", reason: "No namespaces." } } as const;
const refusal =
  "Commands need the sandbox you asked for, and it is not available: No namespaces. Set sandbox to off to run them with your rights.";

describe("the sandbox of a session", () => {
  it("tries nothing in full", async () => {
    const { sandbox, tried } = rig({ access: "full" });
    expect(sandbox.learn()).toBeUndefined();
    expect(await sandbox.place()).toEqual({ kind: "unconfined" });
    expect(tried).toEqual([]);
    expect(sandbox.state).toEqual({
      ...{ mode: "off", mechanism: "none", network: "on" },
      stage: { mechanism: "none", reason: notTriedText },
    });
  });

  it("confines commands, and tries it once", async () => {
    const { sandbox, tried } = rig({ access: "workspace" });
    await sandbox.learn();
    expect(sandbox.learn()).toBeUndefined();
    expect(await sandbox.place()).toEqual({ kind: "confined", mode: "workspace" });
    expect(tried).toEqual(["sandbox"]);
    expect(sandbox.state).toMatchObject({ mode: "workspace", mechanism: "bubblewrap", network: "off" });
  });

  it("X-1: without a mechanism and a request commands run with the user's rights, with one warning", async () => {
    const { sandbox, warnings } = rig({ defaultAccess: "workspace" }, none);
    expect(await sandbox.place()).toEqual({ kind: "unconfined" });
    expect(await sandbox.place()).toEqual({ kind: "unconfined" });
    expect(warnings).toEqual(["No sandbox: No namespaces. Commands run with your rights."]);
    expect(sandbox.state).toMatchObject({
      ...{ mode: "off", mechanism: "none", network: "on" },
      reason: "No namespaces. Commands run with your rights.",
    });
  });

  it("X-1: without a mechanism that was asked for no command runs", async () => {
    const { sandbox } = rig({ access: "workspace" }, none);
    expect(await sandbox.place()).toEqual({ kind: "refused", text: refusal });
    expect(sandbox.state).toMatchObject({ mode: "workspace", mechanism: "none", reason: "No namespaces." });
    expect(await rig({ access: "read-only" }, { ...none, ...noView }).sandbox.place()).toEqual({
      ...{ kind: "refused", text: refusal },
    });
  });

  it("stages in stage, in read-only without a place to write, and where it is asked for", async () => {
    expect(await rig({ access: "stage" }).sandbox.place()).toEqual({ kind: "staged", mode: "workspace" });
    expect(await rig({ access: "read-only" }).sandbox.place()).toEqual({ kind: "staged", mode: "read-only" });
    expect(await rig({ access: "full" }).sandbox.place({ stage: true })).toEqual({ kind: "staged", mode: "workspace" });
  });

  it("V-4: without a view says so where it was asked for, and leaves the rest to the user", async () => {
    expect(await rig({ access: "full" }, noView).sandbox.place({ stage: true })).toEqual({
      ...{ kind: "refused", text: "Staging commands is not possible here: No namespaces." },
    });
    expect(await rig({ access: "stage" }, noView).sandbox.place()).toEqual({
      ...{ kind: "bypassing", reason: "No namespaces.", onDisk: { kind: "confined", mode: "workspace" } },
    });
    expect(await rig({ access: "stage" }, { ...noView, ...none }).sandbox.place()).toMatchObject({
      onDisk: { kind: "unconfined" },
    });
    expect(await rig({ access: "read-only" }, noView).sandbox.place()).toEqual({ kind: "confined", mode: "read-only" });
  });

  it("takes a probe that fails for none", async () => {
    const access = new SessionAccess(new Settings(), { access: "workspace" });
    const fails = () => Promise.reject(new Error("broken"));
    const sandbox = new SessionSandbox({
      access,
      network: () => "off",
      probe: fails,
      probeStage: fails,
      warn: () => {},
    });
    expect(await sandbox.place()).toMatchObject({ kind: "refused" });
    expect(await sandbox.place({ stage: true })).toMatchObject({ kind: "refused" });
  });

  it("uses up the user's yes for one call", () => {
    const { sandbox } = rig({ access: "workspace" });
    expect(sandbox.takeOutside("c1")).toBe(false);
    sandbox.allowOutside("c1");
    expect([sandbox.takeOutside("c1"), sandbox.takeOutside("c1")]).toEqual([true, false]);
  });
});
