// What docs/extensions.md shows of custom commands is what happens, and so is the example in examples/commands.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { say } from "../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome } from "../kit/module-home.js";
import { projectRoot } from "../kit/run-galley.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

async function open(replies: number) {
  const shown: string[] = [];
  const opened = await home.open(
    Array.from({ length: replies }, () => say("ok")),
    {
      env: process.env,
      ui: {
        notify: (...args: unknown[]) => void shown.push(`? notify ${args.map((arg) => JSON.stringify(arg)).join(" ")}`),
      },
    },
  );
  /** What a person is shown, and what the model is asked. */
  const carryOut = async (prompt: string) => {
    const before = opened.model.requests.length;
    await opened.session.prompt(prompt);
    const asked = opened.model.requests.slice(before).map(({ context }) => {
      const content = context.messages.at(-1)?.content;
      return typeof content === "string"
        ? content
        : content?.map((block) => ("text" in block ? block.text : "")).join("");
    });
    return [...shown.splice(0), ...asked, ...opened.lines.splice(0).map(withoutStack)];
  };
  return { ...opened, carryOut };
}

/** The page shows the line; the stack below it is for the author. */
function withoutStack(line: string): string {
  return line.replace(/\n {4}at .*/s, "").trimEnd();
}

it("docs/extensions.md, Custom commands", async () => {
  const page = readFileSync(join(projectRoot, "docs/extensions.md"), "utf8");
  const section = page.split(/^## /m).find((text) => text.startsWith("Custom commands\n")) ?? "";
  const [, path = "", module = ""] = /```js\n\/\/ ~\/(\S+)\n(.*?)```/s.exec(section) ?? [];
  const script = /```console\n(.*?)```/s.exec(section)?.[1] ?? "";
  home.put(path, module);
  const { session, carryOut } = await open(2);
  let played = "";
  for (const [line, prompt = ""] of script.matchAll(/^> (.*)$/gm))
    for (const text of [line, ...(await carryOut(prompt))]) played += `${text}\n`;
  expect(played).toBe(script);
  expect(script.match(/^>/gm)?.length).toBeGreaterThan(2);
  await session.dispose();
});

it("examples/commands/staged.ts makes a prompt of what is staged", async () => {
  home.put(".galley/agent/commands/staged.ts", readFileSync(join(projectRoot, "examples/commands/staged.ts"), "utf8"));
  const cwd = join(home.base, "project");
  const git = (...args: string[]) => execFileSync("git", args, { cwd, stdio: "pipe" });
  git("init", "-q");
  const { session, carryOut } = await open(2);
  expect(await carryOut("/staged")).toEqual(['? notify "Nothing is staged." "info"']);
  writeFileSync(join(cwd, "a.txt"), "one\n");
  git("add", "a.txt");
  const [prompt] = await carryOut('/staged "missing tests" and typos');
  expect(prompt).toMatch(/^Review these staged changes for missing tests and typos\. Change nothing\.\n\ndiff --git /);
  expect(prompt).toMatch(/\+one$/);
  await session.dispose();
});
