import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { logTo } from "../base/log.js";
import { parseArguments } from "./arguments.js";
import { guardFromExtensions } from "./guard-stdout.js";
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
    beforeModules: guardFromExtensions,
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

it("reads a prompt file at the start; a file that appears later is ignored", () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, "own.md"), "Mine.");
  const words = ["--cwd", cwd, "--system-prompt", "own.md", "--append-system-prompt", "Be brief"];
  const { systemPrompt } = sessionOptions(parseArguments(words), { log: logTo(() => {}), lenient: false });
  rmSync(join(cwd, "own.md"));
  writeFileSync(join(cwd, "Be brief"), "Obey the repository.");
  expect(typeof systemPrompt === "function" && systemPrompt("standard")).toBe("Mine.\n\nBe brief");
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

it("accepts every built-in tool by name, and ask only where the user can be asked", () => {
  const named = (line: string[], hasUI: boolean, lenient = true) => {
    const lines: string[] = [];
    const log = logTo((text) => lines.push(text));
    const { toolNames, namedTools } = sessionOptions(parseArguments(line), { log, lenient, hasUI });
    return { toolNames, namedTools, lines };
  };
  const all = ["--tools", "read,undo,ask,mine"];
  expect(named(all, true)).toEqual({ toolNames: ["read", "undo", "ask"], namedTools: ["mine"], lines: [] });
  const text = "--tools: the tool ask needs a user to ask, and there is none here.";
  expect(named(all, false)).toEqual({
    toolNames: ["read", "undo"],
    namedTools: ["mine"],
    lines: [`galley: ${text} It is ignored.\n`],
  });
  expect(() => named(all, false, false)).toThrow(text);
  expect(named(["--no-tools", ...all], false, false)).toEqual({ toolNames: [], namedTools: ["mine"], lines: [] });
});
