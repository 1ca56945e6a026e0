// Templates, skills and a project's own texts in the real program, as a person at a shell has them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
afterAll(remove);

const cwd = join(home, "work");
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};
const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });

it("a template is a prompt, and a skill is a file that the model can read", async () => {
  put(".galley/agent/prompts/look.md", "show $1");
  put(".galley/agent/skills/notes/SKILL.md", "---\nname: notes\ndescription: Keeps notes\n---\nWrite them down.\n");
  put("work/note.txt", "here\n");
  expect(await galley("-p", "/look note.txt")).toEqual({ code: 0, stdout: "here\n", stderr: "2 turns\n" });
  const { stdout } = await galley("-p", `/look ${join(home, ".galley/agent/skills/notes/SKILL.md")}`);
  expect(stdout).toContain("Write them down.");
});

it("a project's are used for exactly the files that were trusted", async () => {
  mkdirSync(join(home, "work/.git"), { recursive: true });
  put("work/a.txt", "trusted\n");
  put("work/.claude/commands/go.md", "show a.txt");
  const skipped = /^galley: 1 prompt of this project is not trusted: galley trust\n\d turns?\n$/m;
  expect((await galley("-p", "/go")).stderr).toMatch(skipped);
  expect((await galley("trust")).code).toBe(6);
  expect((await galley("trust", "--yes")).stdout).toContain(
    "Prompts it would offer or begin with:\n  .claude/commands/go.md",
  );
  expect(await galley("-p", "/go")).toEqual({ code: 0, stdout: "trusted\n", stderr: "2 turns\n" });
  put("work/.claude/commands/go.md", "show a.txt ");
  expect((await galley("-p", "/go")).stderr).toMatch(skipped);
  expect((await galley("--trust-project", "-p", "/go")).stdout).toBe("trusted\n");
  expect((await galley("--no-prompt-templates", "-p", "/look a.txt")).stdout).not.toBe("trusted\n");
});
