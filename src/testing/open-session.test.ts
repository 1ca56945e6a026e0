import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { openSession } from "./open-session.js";
import { say } from "./scripted-model.js";

afterEach(() => vi.unstubAllEnvs());

it("uses nothing that is configured in the home of the user who runs the tests", async () => {
  const home = temporaryDirectory();
  const module = 'globalThis.loadedFromHome = "yes"; export default () => null;';
  const paths = [".galley/agent", ".pi/agent", ".omp/agent", ".claude", ".codex", ".gemini"].flatMap((root) =>
    ["extensions/a.mjs", "tools/a.mjs", "commands/a.mjs", "hooks/a.mjs"].map((name) => `${root}/${name}`),
  );
  const plugin = { galley: { extensions: ["e.mjs"], tools: "t.mjs" } };
  const files: Record<string, string> = {
    ...Object.fromEntries(paths.map((path) => [path, module])),
    ".pi/agent/AGENTS.md": "From home.",
    ".claude/CLAUDE.md": "From home.",
    ".pi/agent/prompts/p.md": "From home.",
    ".pi/agent/rules/r.md": "---\nalwaysApply: true\n---\nFrom home.",
    ".pi/agent/skills/s/SKILL.md": "---\nname: s\ndescription: From home.\n---\nFrom home.",
    ".galley/plugins/p/package.json": JSON.stringify(plugin),
    ".galley/plugins/p/e.mjs": module,
    ".galley/plugins/p/t.mjs": module,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  vi.stubEnv("HOME", home);
  const { session, model } = await openSession({ model: [say("ok")], files: { "AGENTS.md": "From the project." } });
  await session.prompt("hi");
  expect(session.getCommands()).toEqual([]);
  expect(model.requests[0]?.context.systemPrompt).not.toContain("From home.");
  expect("loadedFromHome" in globalThis).toBe(false);
  expect(model.requests[0]?.context.systemPrompt).toContain("From the project.");
  await session.dispose();
});
