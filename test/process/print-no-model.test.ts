// No model, no pretence: the planner answers when it was chosen or nothing is set up, and galley says what is missing
// where something is.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { createPrintRig, jsonLines } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.models(undefined);
  rig.write("note.txt", "a note\n");
});
afterAll(rig.remove);

const keyless = `providers:
  mine:
    baseUrl: http://127.0.0.1:9/v1
    api: openai-completions
    apiKey: $NO_SUCH_KEY
    models:
      - id: m
`;

describe("nothing is set up", () => {
  it("the planner answers what it understands", async () => {
    expect(await rig.galley(["-p", "show", "note.txt"])).toMatchObject({ code: 0, stdout: "a note\n" });
    expect((await rig.galley(["-p", "help"])).code).toBe(0);
  });

  it.each(["fix the bug", "replace a with b with c"])(
    "a sentence that it does not understand: 2 (%s)",
    async (said) => {
      const outcome = await rig.galley(["-p", said]);
      expect(outcome.code).toBe(2);
      expect(outcome.stdout).toMatch(/^I am galley's planner, not a language model\.|^"with" occurs 2 times/);
      const [last] = jsonLines(await rig.galley(["--mode", "json", said])).slice(-1);
      expect(last).toEqual({ type: "exit", code: 2, reason: "usage", pending: [] });
    },
  );

  it("a model that is set up afterwards goes on with the conversation, and one line says so", async () => {
    expect((await rig.galley(["-p", "help"])).code).toBe(0);
    const outcome = await rig.withModel([openAi.text("A model speaks.")], ["-p", "-c", "go on"]);
    expect([outcome.code, outcome.stdout]).toEqual([0, "A model speaks.\n"]);
    expect(outcome.stderr).toContain(
      "galley/planner answered until now, acme/scripted answers from here on. To keep it: --model galley/planner\n",
    );
    const { stdout, stderr } = await rig.withModel([openAi.text("Again.")], ["-p", "-c", "go on"]);
    expect([stdout, stderr]).toEqual(["Again.\n", expect.not.stringContaining("planner")]);
  });

  it("a token that other programs use is no model", async () => {
    const env = { GITHUB_TOKEN: "x", GH_TOKEN: "x" };
    expect((await rig.galley(["-p", "show note.txt"], { env })).code).toBe(0);
  });
});

describe("a key that the service refuses", () => {
  it.each([
    [
      "apiKey: $ZEBRA_API_KEY",
      "The key from ZEBRA_API_KEY was refused by URL. Check it; zebra is described in models.yml.",
    ],
    ["auth: none", "No key is set for zebra. Set  apiKey  for it in models.yml"],
    [
      "auth: none, headers: { Authorization: Bearer zz }",
      "URL refused the headers that models.yml has for zebra. Check them.",
    ],
  ])("is told with provider, source and next step (%s)", async (line, sentence) => {
    const server = await startScriptedServer([{ status: 401, body: '{"error":{"message":"Invalid API key"}}' }]);
    const { url } = server;
    rig.models(
      `providers:\n  zebra: { baseUrl: "${url}/v1", api: openai-completions, ${line}, models: [{ id: m }] }\n`,
    );
    const { code, stderr } = await rig.galley(["-p", "go"], { env: { ZEBRA_API_KEY: "zz0123456789" } });
    await server.close();
    expect([code, stderr]).toEqual([7, `galley: HTTP 401: Invalid API key. ${sentence.replace("URL", url)}\n`]);
  });
});

describe("something is set up that cannot be used", () => {
  it("a missing key: 7, with what is missing and two commands", async () => {
    rig.models(keyless);
    const text = `No key for mine: NO_SUCH_KEY is not set. Nothing was sent.
  export NO_SUCH_KEY=KEY                        then the same again
  galley --model mine/m --api-key KEY -p …  for one run`;
    for (const named of [[], ["--model", "mine/m"], ["--provider", "mine"]]) {
      const outcome = await rig.galley([...named, "-p", "show note.txt"]);
      expect([outcome.code, outcome.stdout]).toEqual([7, ""]);
      expect(outcome.stderr.replace(/ +/g, " ")).toBe(`galley: ${text}\n`.replace(/ +/g, " "));
    }
    const lines = jsonLines(await rig.galley(["--mode", "json", "show note.txt"]));
    expect(lines).toMatchObject([{ type: "exit", code: 7, reason: "provider", pending: [] }]);
  });

  it("the commands do mend it", async () => {
    const reply = [openAi.text("Hello.")];
    for (const way of [{ env: { NO_SUCH_KEY: "k" } }, { args: ["--model", "mine/m", "--api-key", "k"] }]) {
      const server = await startScriptedServer(reply);
      rig.models(keyless.replace("http://127.0.0.1:9", server.url));
      const outcome = await rig.galley([...(way.args ?? []), "-p", "hi"], { env: way.env ?? {} });
      await server.close();
      expect([outcome.code, outcome.stdout]).toEqual([0, "Hello.\n"]);
    }
  });

  it("a key for a service without a table: 7, and what is needed", async () => {
    const { code, stdout, stderr } = await rig.galley(["-p", "show note.txt"], { env: { LITELLM_API_KEY: "k" } });
    expect([code, stdout]).toEqual([7, ""]);
    expect(stderr).toMatch(/^galley: LITELLM_API_KEY is set, but galley does not know the models of this service/);
    expect(stderr).toContain("\n  galley --model planner -p help ");
    expect(stderr).toContain(`'${join(rig.home, ".galley/agent/models.yml")}'`);
    expect(stderr.split("\n")).toHaveLength(4);
  });

  it("the same in auth.json", async () => {
    const agentDir = join(rig.home, "stored");
    mkdirSync(agentDir);
    const keys = { litellm: { type: "api_key", key: "k" } };
    writeFileSync(join(agentDir, "auth.json"), JSON.stringify(keys), { mode: 0o600 });
    const { code, stderr } = await rig.galley(["-p", "help"], { env: { GALLEY_AGENT_DIR: agentDir } });
    expect(code).toBe(7);
    expect(stderr).toContain("auth.json holds a key for litellm, but galley does not know the models");
  });

  it("a service without models: 7", async () => {
    rig.models("providers:\n  mine:\n    baseUrl: https://llm.example\n");
    const { code, stderr } = await rig.galley(["-p", "help"]);
    expect(code).toBe(7);
    expect(stderr).toContain("models.yml names a service and none of its models");
  });

  it("a service of the table without a key: 7, by the name of its variable", async () => {
    const text = "galley: No API key found for anthropic. Set ANTHROPIC_API_KEY, or run: galley login anthropic\n";
    const named = await rig.galley(["--model", "claude-sonnet-5", "-p", "help"]);
    rig.models("providers:\n  anthropic:\n    baseUrl: https://llm.example\n");
    for (const { code, stderr } of [named, await rig.galley(["-p", "help"])]) expect([code, stderr]).toEqual([7, text]);
  });

  it("an empty file says nothing", async () => {
    rig.models("# nothing yet\n");
    expect((await rig.galley(["-p", "help"])).code).toBe(0);
  });

  it("a broken file: 1, once, with line and column", async () => {
    rig.models("providers:\n  mine: [\n    x: 1\n");
    const { code, stdout, stderr } = await rig.galley(["-p", "show note.txt"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^galley: .*models\.yml: .*line \d+, column \d+.*\n$/);
    const [last] = jsonLines(await rig.galley(["--mode", "json", "help"])).slice(-1);
    expect(last).toMatchObject({ code: 1, reason: "startup", message: expect.stringMatching(/line \d+, column \d+/) });
  });

  it("a mistake in a file: 1, with line, column and path", async () => {
    rig.models("providers:\n  mine:\n    baseUrl: https://llm.example/v1\n    api: nope\n    models: [{ id: m }]\n");
    const { code, stdout, stderr } = await rig.galley(["-p", "show note.txt"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^galley: .*models\.yml: line 4, column 10: providers\.mine\.api: expected one of .*\n$/);
  });

  it("a credential file that others can read: 7, told once", async () => {
    const agentDir = join(rig.home, "open");
    mkdirSync(agentDir);
    const keys = { groq: { type: "api_key", key: "k" } };
    writeFileSync(join(agentDir, "auth.json"), JSON.stringify(keys), { mode: 0o644 });
    const env = { GALLEY_AGENT_DIR: agentDir };
    const { code, stdout, stderr } = await rig.galley(["-p", "show note.txt"], { env });
    expect([code, stdout]).toEqual([7, ""]);
    const file = join(agentDir, "auth.json");
    expect(stderr).toBe(`galley: ${file}: not used, because its mode is 0644 and not 0600; run chmod 600 on it\n`);
    expect((await rig.galley(["--model", "planner", "-p", "show note.txt"], { env })).code).toBe(0);
  });

  it("a key that cannot be sent, or whose command fails: 7", async () => {
    for (const OPENAI_API_KEY of ["two\nlines", "schlüssel-0123"]) {
      const { code, stderr } = await rig.galley(["-p", "hi"], { env: { OPENAI_API_KEY } });
      expect([code, stderr]).toEqual([
        7,
        "galley: No API key found for openai. The value is empty, of several lines, or not plain ASCII.\n",
      ]);
    }
    rig.models(keyless.replace("$NO_SUCH_KEY", '"!exit 3"'));
    expect((await rig.galley(["-p", "hi"])).code).toBe(7);
  });

  it("a key for the run and no model that it could be for: 2", async () => {
    const { code, stdout, stderr } = await rig.galley(["--api-key", "key-0123456789", "-p", "show note.txt"]);
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      "galley: The key of --api-key is for no model: name one with --model PROVIDER/ID.\n",
    ]);
  });

  it("an unknown model: 1", async () => {
    const { code, stderr } = await rig.galley(["--model", "nope", "-p", "help"]);
    expect([code, stderr]).toEqual([1, "galley: Model not found: nope. See: galley models --all\n"]);
  });

  it("the planner still answers when it is chosen", async () => {
    for (const text of [keyless, "providers: ["]) {
      rig.models(text);
      const chosen = ["--model", "planner", "-p", "show note.txt"];
      expect(await rig.galley(chosen, { env: { OPENAI_API_KEY: "k" } })).toMatchObject({ code: 0, stdout: "a note\n" });
    }
    rig.models(keyless);
    const set = ["--set", 'modelRoles={"default":"planner"}', "-p", "show note.txt"];
    expect(await rig.galley(set)).toMatchObject({ code: 0, stdout: "a note\n" });
  });
});
