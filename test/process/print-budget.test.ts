// Limits of one-shot runs and of RPC mode, at a real HTTP server: how many requests it gets, how the program ends, and
// what it says.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { call, createPrintRig, jsonLines } from "../kit/print-rig.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.write("a.ts", "foo(1);\n");
});
afterAll(rig.remove);

const look = (id: string) => call("read", { path: "a.ts" }, id);
const price = "        cost: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 }\n";
/** A request of about 300 tokens. */
const brief = ["--system-prompt", "Be brief.", "--tools", "read", "--no-context-files"];

/** The same reply, with another bill. */
function billed(reply: Reply, promptTokens: number): Reply {
  const usage = { prompt_tokens: promptTokens, completion_tokens: 0, total_tokens: promptTokens };
  return { steps: [...(reply as { steps: never[] }).steps.slice(0, -3), ...openAi.finish("tool_calls", usage)] };
}

describe("--max-turns", () => {
  it("stops before the next request: 4, with what there is", async () => {
    const said = { steps: [openAi.chunk({ content: "Looking." }), ...(look("c1") as { steps: never[] }).steps] };
    const outcome = await rig.withModel([said, look("c2")], ["-p", "--max-turns", "2", "go"]);
    expect([outcome.code, outcome.stdout]).toEqual([4, "Looking.\n"]);
    expect(outcome.stderr).toContain("galley: Stopped: --max-turns 2 is used up. Continue with: galley -c …\n");
    const lines = jsonLines(await rig.withModel([look("c1")], ["--mode", "json", "--max-turns", "1", "go"]));
    const limit = { kind: "turns", limit: 1, used: 1 };
    expect(lines.at(-1)).toMatchObject({ type: "exit", code: 4, reason: "limit", limit });
    expect(lines.filter(({ type }) => type === "budget_exceeded")).toEqual([{ type: "budget_exceeded", ...limit }]);
  });

  it("does not matter to a run that needs no more", async () => {
    expect((await rig.withModel([look("c1"), openAi.text("Done.")], ["-p", "--max-turns", "2", "go"])).code).toBe(0);
  });

  it("wins over a pending preview, which stays pending", async () => {
    const outcome = await rig.galley(["-p", "--exit-code", "--max-turns", "1", "replace foo($A) with bar($A) in a.ts"]);
    expect(outcome.code).toBe(4);
    expect(outcome.stderr).toContain("Pending, not written yet:");
    const id = /^ *(pa_\d+) /m.exec(outcome.stderr)?.[1] ?? "";
    expect((await rig.galley(["apply", id])).code).toBe(0);
  });

  it("counts retries", async () => {
    const busy = { status: 503, body: "busy" };
    const settings = ["--set", "retry.baseDelayMs=1"];
    const outcome = await rig.withModel([busy, busy], ["-p", ...settings, "--max-turns", "2", "go"]);
    expect([outcome.code, outcome.requests.length]).toEqual([4, 2]);
  });
});

describe("--max-cost", () => {
  it("counts what was spent, and says so", async () => {
    const args = [...brief, "--max-cost", "0.08", "go"];
    const outcome = await rig.withModel([billed(look("c1"), 9000)], ["-p", ...args], price);
    expect([outcome.code, outcome.requests.length]).toEqual([4, 1]);
    expect(outcome.stderr).toContain(
      "galley: Stopped: --max-cost 0.08 is used up (0.09 spent). Continue with: galley -c …\n",
    );
    const lines = jsonLines(await rig.withModel([billed(look("c1"), 9000)], ["--mode", "json", ...args], price));
    expect(lines.at(-1)).toMatchObject({ code: 4, limit: { kind: "cost", limit: 0.08, used: 0.09 } });
  });

  it("says what was spent where the next call would exceed it", async () => {
    const args = [...brief, "--max-cost", "0.02", "go"];
    const outcome = await rig.withModel([billed(look("c1"), 1580)], ["-p", ...args], price);
    expect([outcome.code, outcome.requests.length]).toEqual([4, 1]);
    expect(outcome.stderr).toContain(
      "galley: Stopped: 0.0158 spent, and the next call would exceed --max-cost 0.02. Con",
    );
    expect(outcome.stderr).toMatch(/, \$0\.0158\n/);
  });

  it("a millionth of a dollar is a limit as well", async () => {
    const outcome = jsonLines(await rig.withModel([], ["--mode", "json", "--max-cost", "0.000001", "go"], price));
    const limit = { kind: "cost", limit: 0.000001, used: 0 };
    const message =
      "Stopped: 0.00 spent, and the next call would exceed --max-cost 0.000001. Continue with: galley -c …";
    expect(outcome.at(-1)).toMatchObject({ code: 4, reason: "limit", message, limit });
  });

  it("a run that continues has a limit of its own", async () => {
    const args = [...brief, "--max-cost", "0.08", "-p"];
    expect((await rig.withModel([billed(look("c1"), 9000)], [...args, "go"], price)).code).toBe(4);
    expect((await rig.withModel([openAi.text("Here.")], [...args, "-c", "go on"], price)).code).toBe(0);
  });

  it("an unknown price is wrong usage, and nothing is sent", async () => {
    rig.models(`providers:
  paid: { baseUrl: "http://127.0.0.1:9/v1", api: openai-completions, apiKey: k0123456789, models: [{ id: m }] }\n`);
    const { code, stderr } = await rig.galley(["-p", "--max-cost", "1", "go"]);
    rig.models(undefined);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "galley: The price of paid/m is not known, so --max-cost cannot hold. " +
        "Use --max-tokens, or give its cost in models.yml.\n",
    });
  });
});

describe("--max-tokens", () => {
  it("lowers what a request asks for, and sends none that cannot fit", async () => {
    const args = ["-p", ...brief, "--max-tokens", "2000", "go"];
    const outcome = await rig.withModel([billed(look("c1"), 1700)], args);
    expect([outcome.code, outcome.requests.length]).toEqual([4, 1]);
    const [{ max_tokens: asked }] = outcome.requests as [{ max_tokens: number }];
    expect(asked).toBeGreaterThan(1000);
    expect(asked).toBeLessThan(2000);
    expect(outcome.stderr).toContain("Stopped: 1700 tokens used, and the next call would exceed --max-tokens 2000.");
    const none = await rig.withModel([], ["-p", ...brief, "--max-tokens", "256", "go"]);
    expect([none.code, none.requests.length, none.stdout]).toEqual([4, 0, ""]);
  });
});

describe("the settings", () => {
  const userFile = join(rig.home, ".galley/agent/config.yml");
  const project = (value: object) => {
    mkdirSync(join(rig.cwd, ".galley"));
    rig.write(".galley/settings.json", JSON.stringify(value));
  };

  it("are limits too; a project may only lower them, and an option replaces them", async () => {
    writeFileSync(userFile, "budget:\n  maxTurns: 2\n");
    try {
      const two = await rig.withModel([look("c1"), look("c2")], ["-p", "go"]);
      expect([two.code, two.requests.length]).toEqual([4, 2]);
      project({ budget: { maxTurns: 9 } });
      const still = await rig.withModel([look("c1"), look("c2")], ["-p", "go"]);
      expect(still.code).toBe(4);
      expect(still.stderr).toContain("budget.maxTurns: 9 is ignored, a project may only make this stricter");
      rig.newProject();
      project({ budget: { maxTurns: 1 } });
      expect((await rig.withModel([look("c1")], ["-p", "go"])).code).toBe(4);
      const replies = [look("c1"), look("c2"), openAi.text("Done.")];
      expect((await rig.withModel(replies, ["-p", "--max-turns", "3", "go"])).code).toBe(0);
    } finally {
      rmSync(userFile);
    }
  });
});

describe("a wrong setting of the user", () => {
  it("is wrong usage: nothing is run without the limit", async () => {
    writeFileSync(join(rig.home, ".galley/agent/config.yml"), "budget:\n  maxCost: much\n");
    try {
      const outcome = await rig.withModel([], ["-p", "go"]);
      expect(outcome.code).toBe(2);
      expect(outcome.stderr).toContain(
        'budget.maxCost: "much" is ignored, expected a number from 0.0001 to 1000000. Nothing is run without a limit',
      );
    } finally {
      rmSync(join(rig.home, ".galley/agent/config.yml"));
    }
  });
});

describe("RPC mode", () => {
  it("has the same options, and goes on when the limit is raised", async () => {
    const server = await startScriptedServer([openAi.text("One."), openAi.text("Two.")]);
    const host = new RpcHost({ args: ["--max-turns", "1"], models: modelsAt(server.url) });
    try {
      const prompt = async (id: string) => {
        host.send({ id, type: "prompt", message: "go" });
        await host.until(() => host.frames.filter(({ type }) => type === "agent_settled").length >= Number(id), "idle");
      };
      await prompt("1");
      await prompt("2");
      expect(host.frames.filter(({ type }) => type === "budget_exceeded")).toHaveLength(1);
      expect(server.requests).toHaveLength(1);
      host.send({ id: "b", type: "set_budget", maxTurns: 2 });
      const used = { cost: 0, turns: 1, tokens: 15 };
      expect(await host.waitForResponse("b")).toMatchObject({ success: true, data: { maxTurns: 2, used } });
      await prompt("3");
      expect(server.requests).toHaveLength(2);
    } finally {
      await host.dispose();
      await server.close();
    }
  });

  it("does not start without the limit that was named", async () => {
    const host = new RpcHost({ args: ["--max-cost", "much"] });
    try {
      expect((await host.exit()).code).toBe(1);
      expect(host.lines).toEqual([]);
      expect(host.stderr).toBe('--max-cost must be dollars above 0, as in 0.50, not "much".\n');
    } finally {
      await host.dispose();
    }
  });
});
