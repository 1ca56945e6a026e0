// What docs/models.md says holds: its commands are run against a server on the loopback in place of the services, its
// files are read by galley's own reader, and the names in it are those of the code.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compatNames } from "../../src/provider/models/model-fields.js";
import { knownProviders, localServers } from "../../src/provider/provider-list.js";
import { isSupportedApi } from "../../src/provider/stream-by-api.js";
import { loadModelRegistry } from "../../src/sdk/load-models.js";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { createPrintRig } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot } from "../kit/run-galley.js";

const text = readFileSync(join(projectRoot, "docs/models.md"), "utf8");
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, body = ""]) => body);

beforeAll(ensureBuilt, 150_000);

describe("docs/models.md", () => {
  it("names variables, APIs and compat fields that exist", () => {
    const named = (pattern: RegExp) => [...new Set(text.match(pattern))];
    const variables = [
      ...knownProviders.flatMap(({ keyNames, baseUrlNames }) => [...keyNames, ...baseUrlNames]),
      ...localServers.flatMap(({ baseUrlNames }) => baseUrlNames),
    ];
    expect(
      named(/\b[A-Z]+(?:_[A-Z]+)*_(?:API_KEY|AUTH_TOKEN|BASE_URL|HOST)\b/g).filter((name) => !variables.includes(name)),
    ).toEqual([]);
    for (const api of ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]) {
      expect(text).toContain(`\`${api}\``);
      expect(isSupportedApi(api)).toBe(true);
    }
    const section = text.slice(text.indexOf("`compat` of every API"), text.indexOf("A file with a mistake"));
    const fields = [...section.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).filter((name) => name !== "compat");
    expect(fields.filter((name) => !compatNames().includes(name))).toEqual([]);
  });

  it("its gateway is a whole models file", async () => {
    const rig = createPrintRig();
    const [, gateway = ""] = blocks("yaml");
    rig.models(gateway);
    const warnings: string[] = [];
    const registry = await loadModelRegistry({
      agentDir: join(rig.home, ".galley/agent"),
      env: {},
      log: { warn: (line) => warnings.push(line), error: (line) => warnings.push(line) },
    });
    expect(warnings).toEqual([]);
    expect(registry.find("gateway", "team-coder")?.cost).toEqual({
      input: 2,
      output: 8,
      cacheRead: 0.2,
      cacheWrite: 2.5,
    });
    rig.remove();
  });

  it("its commands work, with the loopback in place of the service", async () => {
    const rig = createPrintRig();
    const server = await startScriptedServer([openAi.text("A shop."), openAi.text("Fixed.")]);
    const env = { OPENROUTER_API_KEY: "k-0123456789", OPENROUTER_BASE_URL: `${server.url}/v1` };
    const argsOf = (start: string) => {
      const line =
        blocks("sh")
          .join("")
          .split("\n")
          .find((each) => each.startsWith(start)) ?? "";
      return [...line.slice("galley ".length).matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, word]) => quoted ?? word ?? "",
      );
    };
    const asked = await rig.galley(argsOf("galley --model openrouter"), { env });
    expect(asked).toMatchObject({ code: 0, stdout: "A shop.\n" });
    const limited = await rig.galley(argsOf("galley -p --max-cost"), { env });
    expect(limited).toMatchObject({ code: 0, stdout: "Fixed.\n" });
    await server.close();
    rig.remove();
  });
});
