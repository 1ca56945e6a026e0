import { expect, it } from "vitest";
import { logTo } from "../base/log.js";
import { parseArguments } from "./arguments.js";
import { guardFromModules } from "./guard-stdout.js";
import { sessionOptions } from "./session-options.js";

function optionsFor(...words: string[]) {
  const lines: string[] = [];
  const line = parseArguments(words);
  const {
    systemPrompt: _,
    log: __,
    ...options
  } = sessionOptions(line, {
    log: logTo((text) => lines.push(text)),
    lenient: false,
  });
  return { options, lines, warnings: line.warnings };
}

it("says nothing about models that the command line does not say", () => {
  expect(optionsFor("-p", "hi").options).toEqual({
    cwd: process.cwd(),
    persist: true,
    assignments: [],
    resetWorkflowSettings: false,
    modelRoles: {},
    beforeModules: guardFromModules,
  });
});

it("reads the scope, the role models, the cache id and the switch of the rules, without a warning", () => {
  const flags = ["--models", "acme/*, fable:high,", "--smol", "tiny", "--plan", "deep", "--provider-session-id", "c-1"];
  const { options, lines, warnings } = optionsFor(...flags, "--no-rules");
  expect(options).toMatchObject({
    scopedModels: ["acme/*", "fable:high"],
    modelRoles: { smol: "tiny", plan: "deep" },
    providerSessionId: "c-1",
    rules: [],
  });
  expect([lines, warnings]).toEqual([[], []]);
});

it("reads what is said of skills, templates and context files, without a warning", () => {
  const off = optionsFor("--no-skills", "--no-prompt-templates", "--no-context-files");
  expect(off.options).toMatchObject({ skills: [], promptTemplates: [], slashCommands: [], contextFiles: [] });
  const named = optionsFor("--skills", "pdf, ppt*", "--skill", "a", "--skill", "b", "--prompt-template", "c.md");
  expect(named.options).toMatchObject({
    skillPatterns: ["pdf", "ppt*"],
    additionalSkillPaths: ["a", "b"],
    additionalPromptTemplatePaths: ["c.md"],
  });
  expect([...off.warnings, ...named.warnings]).toEqual([]);
});
