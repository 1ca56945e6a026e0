// Templates, skills and rules in a session: what is found, what it becomes, and that nothing of a project that is not
// trusted reaches a model.

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { systemClock } from "../../base/clock.js";
import { logTo } from "../../base/log.js";
import type { ExtensionAPI } from "../../extensions/api/extension.js";
import { saveTrust } from "../../extensions/trust/save-trust.js";
import type { CreateAgentSessionOptions } from "../../sdk/create-agent-session.js";
import { openSession } from "../../testing/open-session.js";
import { type ScriptStep, say } from "../../testing/scripted-model.js";
import { discoverSettings } from "../discover.js";
import { Settings } from "../settings/settings.js";
import { surveyExtensions } from "../survey-extensions.js";
import { maxTexts } from "./load-prompts.js";

let base: string;
let realHome: string | undefined;
beforeEach(() => {
  base = temporaryDirectory();
  realHome = process.env.HOME;
  process.env.HOME = base; // so that nothing of whoever runs the tests is found
  mkdirSync(join(base, "project/.git"), { recursive: true });
});
afterEach(() => {
  process.env.HOME = realHome;
});

const put = (path: string, text: string | Uint8Array) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const place = () => ({ cwd: join(base, "project"), agentDir: join(base, ".galley/agent") });

async function open(session: CreateAgentSessionOptions = {}, model: readonly ScriptStep[] = [say("Done.")]) {
  const lines: string[] = [];
  const log = logTo((line) => void lines.push(line.trim().replaceAll(base, "~")));
  const settings = await discoverSettings({ ...place(), log }, { env: {}, ...session });
  const rules = { loadRules: undefined } as unknown as CreateAgentSessionOptions; // those on the disk, as for everybody
  const result = await openSession({ model, session: { ...rules, ...place(), log, settings, ...session } });
  /** What the model gets for a prompt. */
  const sent = async (text: string) => {
    await result.session.prompt(text);
    return JSON.stringify(result.model.requests.at(-1)?.context.messages.at(-1));
  };
  return { ...result, lines, sent, names: () => result.session.getCommands().map(({ name }) => name) };
}

async function trustProject(): Promise<void> {
  const spot = { ...place(), home: base, env: {}, settings: await discoverSettings({ ...place(), log }, { env: {} }) };
  const { project } = await surveyExtensions(spot);
  await saveTrust(project, "trusted", { file: join(base, ".galley/trust.json"), clock: systemClock });
}
const log = logTo(() => {});
const skill = (name: string, description = "Does things") =>
  `---\nname: ${name}\ndescription: ${description}\n---\nSteps.\n`;

describe("templates", () => {
  it("come from every directory of the user's, and the first of a name counts", async () => {
    put(".galley/agent/prompts/review.md", "Native review of $1.");
    put(".galley/agent/commands/fix.md", "---\ndescription: Fixes\nargument-hint: <what>\n---\nFix $@.");
    put(".pi/agent/prompts/pi.md", "From pi.");
    put(".claude/commands/review.md", "Claude review of $1.");
    put(".claude/commands/notes.txt", "no");
    put(".claude/commands/below/deep.md", "no");
    put(".codex/prompts/codex.md", "From Codex.");
    put(".codex/prompts/fix.md", "Not this one.");
    const { session, sent, names, lines } = await open();
    expect(names()).toEqual(["fix", "review", "pi", "codex"]);
    expect(session.getCommands()[0]).toEqual({
      name: "fix",
      description: "Fixes",
      source: "prompt",
      sourceInfo: {
        path: join(base, ".galley/agent/commands/fix.md"),
        source: "native",
        scope: "user",
        origin: "top-level",
        baseDir: join(base, ".galley/agent/commands"),
        argumentHint: "<what>",
      },
    });
    expect(await sent("/review a.ts")).toContain("Native review of a.ts.");
    expect(lines).toEqual([]);
  });

  it("are expanded in prompts, steering and follow-ups, and only there", async () => {
    put(".galley/agent/prompts/t.md", "Expanded $1.");
    const model = [say("One."), say("Two."), say("Three."), say("Four.")];
    const { session } = await open({}, model);
    const texts = () =>
      session.messages.flatMap(({ role, ...message }) => (role === "user" ? [JSON.stringify(message)] : []));
    const run = session.prompt("/t prompt");
    await session.steer("/t steer");
    await session.followUp("/t follow");
    await run;
    await session.prompt("/t raw", { expandPromptTemplates: false });
    await session.prompt("/unknown one");
    expect(texts().map((text) => /"text":"([^"]*)"/.exec(text)?.[1])).toEqual([
      "Expanded prompt.",
      "Expanded steer.",
      "Expanded follow.",
      "/t raw",
      "/unknown one",
    ]);
  });

  it("that are hostile or broken are one line each, and the others are there", async () => {
    put(".galley/agent/prompts/a-bomb.md", `---\nx: ${"[".repeat(4000)}\n---\nx`);
    put(".galley/agent/prompts/b-large.md", "x".repeat(128 * 1024 + 1));
    put(".galley/agent/prompts/c-bytes.md", Uint8Array.of(0x61, 0xff));
    put(".galley/agent/prompts/d-hidden.md", "See\u200b me");
    mkdirSync(join(base, ".galley/agent/prompts/e-folder.md"));
    execFileSync("mkfifo", [join(base, ".galley/agent/prompts/f-fifo.md")]);
    put(".galley/agent/prompts/g-empty.md", " \n");
    put(".galley/agent/prompts/good.md", "Good.");
    const { names, lines } = await open();
    expect(names()).toEqual(["d-hidden", "good"]);
    const at = "galley: ~/.galley/agent/prompts";
    expect(lines).toEqual([
      expect.stringMatching(`^${at}/a-bomb.md has a front matter .*; it is not used$`),
      `${at}/b-large.md: is larger than 131072 bytes; it is not used`,
      `${at}/c-bytes.md: is not UTF-8 text; it is not used`,
      `${at}/d-hidden.md: removed 1 zero-width character`,
      `${at}/f-fifo.md: is not a regular file; it is not used`,
      `${at}/g-empty.md says nothing; it is not used`,
    ]);
  });

  it("are not endless", async () => {
    for (let index = 0; index <= maxTexts; index++) put(`.galley/agent/prompts/t${1000 + index}.md`, "x");
    const { names, lines } = await open();
    expect(names()).toHaveLength(maxTexts);
    expect(lines).toEqual([
      `galley: ~/.galley/agent/prompts/t${1000 + maxTexts}.md and later ones are not used: there are more than ${maxTexts}`,
    ]);
  });

  it("may be named, given or switched off", async () => {
    put(".galley/agent/prompts/found.md", "Found.");
    put("elsewhere/one.md", "One.");
    put("elsewhere/two.md", "Two.");
    const elsewhere = { additionalPromptTemplatePaths: ["~/elsewhere"] };
    expect((await open(elsewhere)).names()).toEqual(["found", "one", "two"]);
    expect((await open({ ...elsewhere, promptTemplates: [] })).names()).toEqual(["one", "two"]);
    const given = { promptTemplates: [{ name: "mine", content: "Mine: $@" }], slashCommands: [] };
    const { names, sent } = await open(given);
    expect(names()).toEqual(["mine"]);
    expect(await sent("/mine words")).toContain("Mine: words");
  });
});

describe("skills", () => {
  it("are listed in the system prompt and expanded by name", async () => {
    put(".claude/skills/pdf/SKILL.md", skill("pdf", "Reads PDF files"));
    put(".galley/agent/skills/quiet/SKILL.md", `---\ndescription: Q\ndisable-model-invocation: true\n---\nHush.`);
    put(".galley/agent/skills/none/README.md", "no skill");
    const { session, sent, names } = await open();
    expect(names()).toEqual(["skill:quiet", "skill:pdf"]);
    expect(session.systemPrompt).toContain("<name>pdf</name>");
    expect(session.systemPrompt).toContain(`<location>${base}/.claude/skills/pdf/SKILL.md</location>`);
    expect(session.systemPrompt).not.toContain("quiet");
    expect(session.systemPrompt).not.toContain("Steps.");
    expect(await sent("/skill:quiet now")).toContain("Hush.\\n</skill>\\n\\nnow");
  });

  it("are not offered where nothing can read them, where they are off, or by another name", async () => {
    put(".galley/agent/skills/pdf/SKILL.md", skill("pdf"));
    put(".galley/agent/skills/pptx/SKILL.md", skill("pptx"));
    expect((await open({ toolNames: ["ls"] })).session.systemPrompt).not.toContain("pdf");
    expect((await open({ skills: [] })).names()).toEqual([]);
    expect((await open({ skillPatterns: ["pp*"] })).names()).toEqual(["skill:pptx"]);
    put(".galley/agent/config.yml", "skills: {enabled: false}\n");
    expect((await open()).names()).toEqual([]);
    expect((await open({ additionalSkillPaths: ["~/.galley/agent/skills/pdf"] })).names()).toEqual(["skill:pdf"]);
  });
});

describe("a project's own", () => {
  beforeEach(() => {
    put("project/.galley/prompts/go.md", "Project go.");
    put("project/.claude/skills/deploy/SKILL.md", skill("deploy"));
    put("project/.galley/rules/style.md", "---\nalwaysApply: true\n---\nNo tabs.");
    put("project/.galley/APPEND_SYSTEM.md", "Added by the project.");
    put(".galley/agent/prompts/go.md", "My go.");
  });

  it("are not used while it is not trusted, and hide nothing of the user's", async () => {
    const { session, names, sent, lines } = await open();
    expect(names()).toEqual(["go"]);
    expect(session.systemPrompt).not.toMatch(/deploy|tabs|Added by/);
    expect(await sent("/go")).toContain("My go.");
    expect(lines).toEqual(["galley: 2 prompts, 1 skill and 1 rule of this project are not trusted: galley trust"]);
  });

  it.each([
    ["for this run", async () => ({ trustProject: true })],
    ["by an earlier decision", () => trustProject().then(() => ({}))],
    ["by the user's settings", async () => put(".galley/agent/config.yml", "security: {projectModules: allow}\n")],
  ])("come first once it is trusted %s", async (_name, trust) => {
    const { session, names, sent, lines } = await open((await trust()) ?? {});
    expect(names()).toEqual(["go", "skill:deploy"]);
    expect(session.systemPrompt).toContain("Added by the project.");
    expect(session.systemPrompt).toContain("<name>deploy</name>");
    expect(session.systemPrompt).toContain('<rule name="style"');
    expect(session.systemPrompt).toContain("No tabs.");
    expect(await sent("/go")).toContain("Project go.");
    expect(lines).toEqual([]);
  });

  it.each([
    ["prompts/go.md", "Project go, changed.", "1 prompt"],
    ["rules/new.md", "---\nalwaysApply: true\n---\nA rule that was not there", "1 rule"],
    ["rules/style.md", "---\nalwaysApply: true\n---\nA rule that was not there", "1 rule"],
    ["SYSTEM.md", "You are another agent.", "1 prompt"],
  ])("are a new question when %s changes, about that one only", async (file, text, what) => {
    await trustProject();
    put(`project/.galley/${file}`, text);
    const { session, names, sent, lines } = await open();
    expect(names()).toEqual(["go", "skill:deploy"]);
    expect(session.systemPrompt).not.toMatch(/another agent|not there/);
    expect(session.systemPrompt).toContain("Added by the project.");
    expect(session.systemPrompt.includes("No tabs.")).toBe(file !== "rules/style.md");
    expect(await sent("/go")).toContain(file === "prompts/go.md" ? "My go." : "Project go.");
    expect(lines).toEqual([`galley: ${what} of this project is not trusted: galley trust`]);
  });

  it("may not lead out of it, trusted or not", async () => {
    put("secret.md", "A secret.");
    symlinkSync(join(base, "secret.md"), join(base, "project/.galley/prompts/leak.md"));
    const { names, lines } = await open({ trustProject: true });
    expect(names()).toEqual(["go", "skill:deploy"]);
    expect(lines).toEqual(["galley: ~/project/.galley/prompts/leak.md: leads out of the project; it is not used"]);
  });

  it("share one decision with its modules", async () => {
    put("project/.galley/extensions/hello.js", 'export default (pi) => pi.registerCommand("go", { handler() {} });');
    const { session } = await open({ trustProject: true });
    expect(session.getCommands().map(({ name, source }) => [name, source])).toEqual([
      ["go", "extension"],
      ["skill:deploy", "skill"],
    ]);
    const refusal = 'Extension command "/go" cannot be queued. Use prompt() or execute the command when not streaming.';
    await expect(session.steer("/go now")).rejects.toThrow(refusal);
    await expect(session.followUp("/go")).rejects.toThrow(refusal);
    await session.steer("/skill:deploy");
    expect(session.queuedMessageCount).toBe(1);
  });
});

it("a project's may be trusted by an extension of the user's", async () => {
  put("project/.galley/prompts/go.md", "Project go.");
  const factory = (pi: ExtensionAPI) => pi.on("project_trust", () => ({ trusted: "yes" }));
  expect((await open({ extensions: [factory] })).names()).toEqual(["go"]);
});

it("are read again when modules are loaded again", async () => {
  put(".galley/agent/prompts/one.md", "One.");
  put(
    ".galley/agent/extensions/again.js",
    'export default (pi) => pi.registerCommand("again", { handler: (args, ctx) => ctx.reload() });',
  );
  const { session, names } = await open();
  expect(names()).toEqual(["again", "one"]);
  put(".galley/agent/prompts/two.md", "Two.");
  put(".galley/agent/skills/new/SKILL.md", skill("new"));
  await session.prompt("/again");
  expect(names()).toEqual(["again", "one", "two", "skill:new"]);
  expect(session.systemPrompt).toContain("<name>new</name>");
});

describe("a project's settings", () => {
  it("may point at its own skills and modules once it is trusted, and widen nothing before", async () => {
    put(
      "project/.galley/settings.json",
      '{"skills.customDirectories":["kit"],"extensions":["kit/x.js"],"shellPath":"/bin/dash"}',
    );
    put("project/kit/build/SKILL.md", skill("build"));
    put("project/kit/x.js", 'export default (pi) => pi.registerCommand("x", { handler() {} });');
    const before = await open();
    expect(before.names()).toEqual([]);
    const settings = (options = {}) => discoverSettings({ ...place(), log }, { env: {}, ...options });
    expect((await settings()).get("shellPath")).toBeUndefined();
    expect((await settings({ trustProject: true })).get("shellPath")).toBe("/bin/dash");
    await trustProject();
    expect((await settings()).get("shellPath")).toBe("/bin/dash");
    expect((await open()).names()).toEqual(["x", "skill:build"]);
    put("project/.galley/settings.json", '{"shellPath":"/bin/evil"}');
    expect((await settings()).get("shellPath")).toBeUndefined();
  });
});

it("rules with a description are offered, others are not", async () => {
  put(".galley/agent/rules/sql.md", "---\ndescription: For SQL\nglobs: '*.sql'\n---\nUse capitals.");
  put(".galley/agent/rules/nothing.md", "Nobody asked.");
  const { session } = await open();
  expect(session.systemPrompt).toContain(`- sql [*.sql]: For SQL (${base}/.galley/agent/rules/sql.md)`);
  expect(session.systemPrompt).not.toMatch(/capitals|Nobody/);
});

it("a session without any has no such object and says nothing of them", async () => {
  const { session, lines } = await open({ settings: new Settings() });
  expect(session.getCommands()).toEqual([]);
  expect(session.systemPrompt).not.toMatch(/[Ss]kill|[Rr]ules? for/);
  expect(lines).toEqual([]);
});
