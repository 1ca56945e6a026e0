// What is protected in a plan is written only by the user's own word: the host's user is asked, or the host says that it
// asked itself. No answer, a no and a model are not that word.

import { describe, expect, it } from "vitest";
import type { ApplyOwner, ChangeWriter } from "../../../src/plans/change-writer.js";
import { type PlannedChange, stampOf } from "../../../src/plans/plan.js";
import { serveInProcess } from "../../kit/rpc-in-process.js";

type Host = Awaited<ReturnType<typeof serveInProcess>>;

function created(path: string, more: Partial<PlannedChange> = {}): PlannedChange {
  return {
    kind: "create",
    path: `/p/${path}`,
    stamp: stampOf(path, undefined),
    before: Buffer.alloc(0),
    after: Buffer.from("x\n"),
    ...more,
  };
}

async function staged(
  hasUI: boolean,
): Promise<{ host: Host; applied: ApplyOwner[]; next: (type: string) => Promise<Record<string, unknown>> }> {
  const applied: ApplyOwner[] = [];
  const changeWriter: ChangeWriter = {
    apply: async (_changes, owner) => {
      applied.push(owner);
      return { changeId: "ch_00000001" };
    },
    note: async () => async () => {},
    checkWritable: async () => {},
    staleFiles: async () => [],
    recover: async () => [],
    history: async () => [],
    look: async () => undefined,
    stamp: async () => undefined,
  };
  const host = await serveInProcess({ hasUI, session: { changeWriter } });
  const changes = [created("a.ts"), created(".envrc", { protected: true }), created(".git/index")];
  const plan = { changes, applied: { text: "Done." }, fromCommand: true as const };
  host.open.session.stagePendingAction({ label: "bash: make", sourceToolName: "bash", work: { kind: "plan", plan } });
  const next = async (type: string) => {
    for (;;) {
      const frame = (await host.receive()) as Record<string, unknown>;
      if (frame.type === type) return frame;
    }
  };
  return { host, applied, next };
}

const decide = (more: object = {}) =>
  JSON.stringify({ id: 1, type: "resolve_pending_action", action: "apply", reason: "go", pendingId: "pa_1", ...more });
const refusal =
  "Pending action pa_1: It changes protected paths (.envrc), and the user did not agree to that. Nothing was written.";

describe("protected paths over RPC", () => {
  it("are asked about, with every path", async () => {
    const { host, applied, next } = await staged(true);
    host.send(decide());
    const question = await next("extension_ui_request");
    expect(question).toMatchObject({
      method: "confirm",
      title: "Change a protected path?",
      message: "Part of: bash: make\n.envrc\nIt is protected: it decides what galley or other programs do here.",
    });
    expect(applied).toEqual([]);
    host.send(JSON.stringify({ type: "extension_ui_response", id: question.id, confirmed: true }));
    expect(await next("response")).toMatchObject({ success: true });
    expect(applied).toMatchObject([{ allowsProtected: true, by: "host" }]);
    expect([...(applied[0]?.fromCommand ?? [])]).toEqual(["/p/a.ts", "/p/.envrc", "/p/.git/index"]);
    await host.close();
  });

  it("stay pending after a no, without being counted as a failed attempt", async () => {
    const { host, applied, next } = await staged(true);
    host.send(decide());
    const { id } = await next("extension_ui_request");
    host.send(JSON.stringify({ type: "extension_ui_response", id, confirmed: false }));
    expect(await next("response")).toMatchObject({ success: false, error: refusal });
    expect(applied).toEqual([]);
    expect(host.open.session.pendingActions).toMatchObject([{ id: "pa_1", status: "pending", attempts: 0 }]);
    await host.close();
  });

  it("are refused where no user can be asked, unless the host says that the user agreed", async () => {
    const { host, applied, next } = await staged(false);
    host.send(decide());
    expect(await next("response")).toMatchObject({ success: false, error: refusal });
    host.send(decide({ pendingId: undefined, all: true }));
    expect(await next("response")).toMatchObject({
      success: true,
      data: { text: `pa_1 failed: bash: make – ${refusal}` },
    });
    expect(applied).toEqual([]);
    host.send(decide({ files: ["a.ts"] }));
    expect(await next("response")).toMatchObject({ success: true });
    host.send(decide({ protected: true }));
    expect(await next("response")).toMatchObject({ success: true });
    expect(applied.map(({ allowsProtected = false }) => allowsProtected)).toEqual([false, true]);
    await host.close();
  });

  it("are not written because a model says so", async () => {
    const { host, applied } = await staged(false);
    const { pending } = (
      host.open.session as unknown as {
        internals: { pending: { resolve(params: object): Promise<{ isError?: boolean; content: unknown }> } };
      }
    ).internals;
    const result = await pending.resolve({
      action: "apply",
      reason: "r",
      id: "pa_1",
      extra: { protected: true },
      protected: true,
    });
    expect([result.isError, applied]).toEqual([true, []]);
    await host.close();
  });

  it("are listed with what they are, and git's own data in one line", async () => {
    const { host, next } = await staged(false);
    host.send(JSON.stringify({ id: 2, type: "get_pending_actions" }));
    expect(await next("response")).toMatchObject({
      data: {
        actions: [
          {
            git: "index",
            files: [{ path: "a.ts" }, { path: ".envrc", protected: true }, { path: ".git/index", isGitData: true }],
          },
        ],
      },
    });
    host.send(JSON.stringify({ id: 3, type: "get_diff", pendingId: "pa_1" }));
    const page = (await next("response")) as { data: { git: string; files: { path: string }[] } };
    expect([page.data.git, page.data.files.map(({ path }) => path)]).toEqual(["index", ["a.ts", ".envrc"]]);
    await host.close();
  });
});
