// Which models a session begins with, has for small work, and keeps to.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { Settings } from "../config/settings/settings.js";
import { chooseModels, type ModelOptions } from "./session-models.js";

async function choose(env: Record<string, string>, options: ModelOptions = {}, roles: Record<string, string> = {}) {
  const told: string[] = [];
  const log = { warn: (text: string) => void told.push(text), error: (text: string) => void told.push(text) };
  const settings = new Settings();
  settings.override("modelRoles", roles);
  const agentDir = temporaryDirectory();
  writeFileSync(join(agentDir, "models.yml"), "");
  const { chosen, roles: found, registry } = await chooseModels(options, { agentDir, env, settings, log });
  const name = chosen.model && `${chosen.model.provider}/${chosen.model.id}`;
  return { name, small: found.get("smol")?.model.id, told, registry };
}

describe("with a key alone", () => {
  it("a session begins with the usual model of the first service, and has its small one", async () => {
    expect(await choose({ GROQ_API_KEY: "k", ANTHROPIC_API_KEY: "k" })).toMatchObject({
      name: "anthropic/claude-sonnet-5",
      small: "claude-haiku-4-5",
      told: [],
    });
    expect(await choose({ GROQ_API_KEY: "k" })).toMatchObject({ name: "groq/openai/gpt-oss-120b", small: undefined });
  });

  it("what the user names wins: for the conversation, and for small work", async () => {
    const env = { ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" };
    const byRole = await choose(env, {}, { default: "groq/qwen/qwen3.8-27b", smol: "groq/llama-3.1-8b-instant" });
    expect(byRole).toMatchObject({ name: "groq/qwen/qwen3.8-27b", small: "llama-3.1-8b-instant", told: [] });
    const byVariable = await choose({ ...env, GALLEY_SMOL_MODEL: "claude-opus-5" });
    expect(byVariable).toMatchObject({ name: "anthropic/claude-sonnet-5", small: "claude-opus-5" });
    const missing = await choose(env, {}, { smol: "nope" });
    expect(missing).toMatchObject({ small: undefined, told: ["modelRoles.smol: nope cannot be used now"] });
  });

  it("a service by its name means its usual model", async () => {
    const env = { ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" };
    expect(await choose(env, { provider: "groq" })).toMatchObject({ name: "groq/openai/gpt-oss-120b" });
    expect(await choose({}, { provider: "anthropic" })).toMatchObject({ name: "anthropic/claude-sonnet-5" });
    expect(await choose(env, { modelPattern: "planner" })).toMatchObject({ name: "galley/planner" });
  });
});

it("without a key the planner answers, without a word", async () => {
  expect(await choose({})).toMatchObject({ name: "galley/planner", small: undefined, told: [] });
});
