// Starts programs.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { problemText } from "../provider/models/models-file.js";
import { type LoadModelsOptions, loadModelRegistry } from "./load-models.js";

let agentDir: string;
let warnings: string[];
beforeEach(() => {
  agentDir = temporaryDirectory();
  warnings = [];
});

const at = (name: string) => join(agentDir, name);
const put = (name: string, text: string, mode = 0o600) => {
  writeFileSync(at(name), text);
  chmodSync(at(name), mode);
};

function load(options: Partial<LoadModelsOptions> = {}) {
  const log = {
    warn: (text: string) => void warnings.push(text),
    error: (text: string) => void warnings.push(`error: ${text}`),
  };
  return loadModelRegistry({ agentDir, env: {}, log, ...options });
}

const yaml = `
providers:
  acme:
    baseUrl: https://llm.example/v1
    apiKey: $ACME_KEY
    api: openai-completions
    models:
      - id: fable
`;
const json = JSON.stringify({
  providers: { other: { baseUrl: "https://x.example", apiKey: "k", api: "openai-completions", models: [{ id: "m" }] } },
});
const fable = { provider: "acme", id: "fable" };
const ids = (models: { id: string }[]) => models.map(({ id }) => id);

describe("models", () => {
  it("are the planner alone without a file, with nothing said, even where the directory is not there", async () => {
    expect(ids((await load()).all())).toEqual(["planner"]);
    expect(ids((await load({ agentDir: at("nowhere") })).all())).toEqual(["planner"]);
    expect((await load({ disabledProviders: ["galley"] })).all()).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it("come from models.yml", async () => {
    put("models.yml", yaml);
    const registry = await load({ env: { ACME_KEY: "k" } });
    expect(ids(registry.available())).toEqual(["fable"]);
    expect(await registry.apiKeyFor(fable)).toBe("k");
    expect(warnings).toEqual([]);
  });

  it("come from models.json", async () => {
    put("models.json", json);
    expect(ids((await load()).available())).toEqual(["m"]);
  });

  it("come from models.yml when both are there", async () => {
    put("models.yml", yaml);
    put("models.json", json);
    expect(ids((await load()).all())).toEqual(["fable", "planner"]);
    expect(warnings).toEqual([`${at("models.json")}: not used, because ${at("models.yml")} exists too`]);
  });

  it.each([
    ["models.yml", "providers: [", "is not valid YAML at line 1, column 13 (bad indent)"],
    ["models.json", '{"providers":', "is not valid JSON"],
    ["models.json", "\u0000", "is not valid JSON"],
  ])("of a broken %s are told with file and place, and the planner stays", async (name, text, message) => {
    put(name, text);
    const registry = await load();
    expect(ids(registry.available())).toEqual(["planner"]);
    expect(warnings).toEqual([`${at(name)}: ${message}`]);
    expect(registry.problemsConcerning({ model: "acme/fable" }).map(problemText)).toEqual(warnings);
  });

  it("of a file that cannot be used are told too, and the other file does not stand in", async () => {
    mkdirSync(at("models.yml"));
    put("models.json", json);
    const registry = await load();
    expect(ids(registry.all())).toEqual(["planner"]);
    expect(warnings).toEqual([
      `${at("models.json")}: not used, because ${at("models.yml")} exists too`,
      `${at("models.yml")}: is not a regular file`,
    ]);
  });

  it("that do not fit are told one by one, up to a bound", async () => {
    const models = Array.from({ length: 30 }, (_, index) => ({ id: `m${index}`, maxTokens: 0 }));
    put("models.json", JSON.stringify({ providers: { acme: { baseUrl: "https://x.example", auth: "none", models } } }));
    const registry = await load();
    expect(registry.problems).toHaveLength(30);
    expect(warnings).toHaveLength(21);
    const place = `${at("models.json")}: line 1, column 77`;
    expect(warnings[0]).toBe(`${place}: providers.acme.models[0].api: is required here or at the provider`);
    expect(warnings[20]).toBe("and 10 more of this kind");
  });

  it("with a misspelt variable for a key are available, with a warning that does not repeat it", async () => {
    put("models.yml", yaml.replace("$ACME_KEY", "ACME_API_KYE_TOKEN"));
    expect(await (await load()).apiKeyFor(fable)).toBe("ACME_API_KYE_TOKEN");
    expect(warnings).toEqual([
      `${at("models.yml")}: providers.acme.apiKey: looks like the name of a variable that is not set, so its text counts as the key; write $NAME to require the variable`,
    ]);
  });
});

describe("auth.json", () => {
  const auth = JSON.stringify({ acme: { type: "api_key", key: "stored" } });

  it("wins over environment and models file, and loses to the run", async () => {
    put("models.yml", yaml);
    put("auth.json", auth);
    const env = { ACME_KEY: "k" };
    const registry = await load({ env });
    expect(await registry.apiKeyFor(fable)).toBe("stored");
    registry.setRuntimeApiKey("acme", "run");
    expect(await registry.apiKeyFor(fable)).toBe("run");
    expect(warnings).toEqual([]);
  });

  it.each(["0640", "0604", "0644", "0660", "0400", "0700"])("is not used with mode %s", async (mode) => {
    put("models.yml", yaml);
    put("auth.json", auth, Number.parseInt(mode, 8));
    expect((await load()).hasCredential(fable)).toBe(false);
    expect(warnings).toEqual([
      `${at("auth.json")}: not used, because its mode is ${mode} and not 0600; run chmod 600 on it`,
    ]);
  });

  it.each([
    ["{sk-secret", "is not valid JSON at line 1, column 2"],
    ["[]", "expected an object"],
  ])("that is broken is one line: %j", async (text, message) => {
    put("models.yml", yaml);
    put("auth.json", text);
    await load();
    expect(warnings).toEqual([`${at("auth.json")}: ${message}`]);
  });

  it("may be empty", async () => {
    put("models.yml", yaml);
    put("auth.json", "");
    await load();
    expect(warnings).toEqual([]);
  });
});

describe("a key command", () => {
  it("runs for a request, in the agent directory, once", async () => {
    put("models.yml", yaml.replace("$ACME_KEY", "!echo run >> runs; echo $PREFIX-key"));
    const registry = await load({ env: { PATH: process.env.PATH, PREFIX: "my" } });
    expect(ids(registry.available())).toEqual(["fable"]);
    expect(() => readFileSync(at("runs"))).toThrow("ENOENT");
    expect(await Promise.all([registry.apiKeyFor(fable), registry.apiKeyFor(fable)])).toEqual(["my-key", "my-key"]);
    expect(readFileSync(at("runs"), "utf8")).toBe("run\n");
  });

  it("that has answered is not run again in this process, unless in other surroundings", async () => {
    put("models.yml", yaml.replace("$ACME_KEY", "!echo run >> runs; echo $PREFIX-key"));
    const env = { PATH: process.env.PATH, PREFIX: "my" };
    for (const registry of [await load({ env }), await load({ env: { ...env } })])
      expect(await registry.apiKeyFor(fable)).toBe("my-key");
    expect(readFileSync(at("runs"), "utf8")).toBe("run\n");
    expect(await (await load({ env: { ...env, PREFIX: "your" } })).apiKeyFor(fable)).toBe("your-key");
  });

  it("that fails leaves no key and says so", async () => {
    put("models.yml", yaml.replace("$ACME_KEY", "!exit 3"));
    const registry = await load({ env: { PATH: process.env.PATH } });
    await expect(registry.apiKeyFor(fable)).rejects.toMatchObject({
      code: "no_credential",
      message: "No API key found for acme. The command ended with exit code 3.",
    });
    // A failure is not remembered, by nobody.
    put("models.yml", yaml.replace("$ACME_KEY", "!test -f unlocked && echo key"));
    await expect((await load({ env: { PATH: process.env.PATH } })).apiKeyFor(fable)).rejects.toThrow("exit code 1");
    put("unlocked", "");
    expect(await (await load({ env: { PATH: process.env.PATH } })).apiKeyFor(fable)).toBe("key");
  });
});
