// What docs/sdk.md shows is what happens, and its tables of options and error codes are complete.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CreateAgentSessionOptions } from "../../src/sdk/session-options.js";
import { namesInTables, pageExamples, readPage, runExample } from "../kit/page-examples.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const page = readPage("docs/sdk.md");
const examples = pageExamples(page);
const files = { "notes.txt": "Buy ink.\n", "app.js": 'log("Hello");\n' };

/** Complete by its type: an option without a row does not pass, and one that is gone does not compile. */
const options: Record<keyof CreateAgentSessionOptions, true> = {
  ...{ cwd: true, agentDir: true, env: true, workspace: true, changeWriter: true, processes: true, settings: true },
  ...{ assignments: true, resetWorkflowSettings: true, model: true, provider: true, modelPattern: true, apiKey: true },
  ...{ thinkingLevel: true, scopedModels: true, modelRoles: true, modelRegistry: true, authStorage: true },
  ...{ providerSessionId: true, streamFn: true, systemPrompt: true, contextFiles: true, skills: true },
  ...{ promptTemplates: true, slashCommands: true, skillPatterns: true, additionalSkillPaths: true },
  ...{ additionalPromptTemplatePaths: true, rules: true, loadRules: true, toolNames: true, customTools: true },
  ...{ overrideBuiltins: true, additionalToolPaths: true, namedTools: true, extensions: true },
  ...{ additionalExtensionPaths: true, pluginDirectories: true, disableExtensionDiscovery: true, trustProject: true },
  ...{ deferModules: true, beforeModules: true, onLoadError: true, resolveFlags: true, mode: true, approve: true },
  ...{ confirmApply: true, allowsTool: true, askTiers: true, sessionName: true },
  ...{ permit: true, allowExec: true, ui: true, hooks: true, onShutdownRequest: true, persist: true },
  ...{
    access: true,
    defaultAccess: true,
    askEscalation: true,
    askHost: true,
    approval: true,
    askCall: true,
    askTrust: true,
    components: true,
  },
  ...{ budget: true, onBudgetExceeded: true, onNoModel: true, onFilesWritten: true },
  ...{ sessionDir: true, resume: true, sessionManager: true, clock: true, ids: true, random: true, log: true },
};

describe("docs/sdk.md", () => {
  it.for(examples)("example $title", async (example) => {
    expect(await runExample(example, files)).toEqual({ code: 0, stdout: example.output, stderr: "" });
  });

  it("has examples, which typed-blocks.test.ts compiles", () => {
    expect(examples.length).toBeGreaterThan(7);
  });

  it("begins with a session of at most ten lines", () => {
    expect(examples[0]?.code.trimEnd().split("\n").length).toBeLessThanOrEqual(10);
  });

  it("has every option of createAgentSession once, and no other", () => {
    expect(namesInTables(page, "Options").sort()).toEqual(Object.keys(options).sort());
  });

  it("has every error code once, and no other", () => {
    const source = readFileSync(join(projectRoot, "src/base/errors.ts"), "utf8");
    const codes = [...source.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(20);
    expect(namesInTables(page, "Errors").sort()).toEqual(codes.sort());
  });
});
