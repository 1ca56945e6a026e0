// What docs/prompts.md shows is what happens: the files of each section are written, and every line of the block below
// them is carried out and compared.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { logTo } from "../../src/base/log.js";
import { createNodeWorkspace } from "../../src/files/node-workspace.js";
import type { CreateAgentSessionOptions } from "../../src/sdk/index.js";
import { type OpenSession, openSession } from "../../src/testing/open-session.js";
import { type ScriptStep, say } from "../../src/testing/scripted-model.js";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const page = readFileSync(join(projectRoot, "docs/prompts.md"), "utf8");
const examples = page.split(/^## /m).flatMap((section) => {
  const files = [...section.matchAll(/```md\n<!-- ~\/(.*?) -->\n(.*?)```/gs)].map(([, path = "", text = ""]) => ({
    path,
    text,
  }));
  const script = /```text\n(.*?)```/s.exec(section)?.[1];
  return script === undefined ? [] : [{ title: section.split("\n")[0], files, script }];
});

describe("docs/prompts.md", () => {
  it("has nothing but examples that are run", () => {
    expect(page.match(/```text$/gm)).toHaveLength(examples.length);
    expect(page.match(/```md$/gm)).toHaveLength(examples.flatMap(({ files }) => files).length);
  });

  it.each(examples)("$title", async ({ files, script }) => {
    expect(await play(files, script)).toBe(script);
  });
});

/** The script again, with what really came out. */
async function play(files: readonly { path: string; text: string }[], script: string): Promise<string> {
  const home = temporaryDirectory();
  const realHome = process.env.HOME;
  process.env.HOME = home; // so that nothing of whoever runs the tests is found
  mkdirSync(join(home, "work/.git"), { recursive: true });
  for (const { path, text } of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  try {
    const played: string[] = [];
    let rig: Rig | undefined;
    const lines = script.trimEnd().split("\n");
    for (const [index, line] of lines.entries()) {
      if (line.startsWith("$ ")) rig = await start(line, { home, replies: repliesIn(lines.slice(index)) });
      if (!/^(?:[$>=]|model:) ?/.test(line) || !rig) continue;
      played.push(line, ...(await rig.carryOut(line)));
    }
    return `${reordered(played).join("\n").replaceAll(home, "~")}\n`;
  } finally {
    process.env.HOME = realHome;
  }
}

interface Rig {
  carryOut(line: string): Promise<string[]>;
}

/** What the model says to each prompt of this session: what the page says, or that it is done. */
function repliesIn(lines: readonly string[]): ScriptStep[] {
  const end = lines.findIndex((line, index) => index > 0 && line.startsWith("$ "));
  const own = lines.slice(0, end === -1 ? undefined : end);
  return own.flatMap((line, index) => {
    if (line.startsWith("model: ")) return [say(line.slice(7))];
    return line.startsWith("> ") && !own[index + 1]?.startsWith("model: ") ? [say("Done.")] : [];
  });
}

async function start(command: string, { home, replies }: { home: string; replies: ScriptStep[] }): Promise<Rig> {
  const [cwd, agentDir] = [join(home, "work"), join(home, ".galley/agent")];
  const told: string[] = [];
  const rules = { loadRules: undefined } as unknown as CreateAgentSessionOptions; // those on the disk, as for everybody
  const opened = await openSession({
    model: replies,
    session: {
      ...rules,
      cwd,
      agentDir,
      workspace: createNodeWorkspace({ cwd, home, agentDir }),
      trustProject: command.endsWith("--trust-project"),
      log: logTo((line) => void told.push(line.trim().replace(/^galley: /, "! "))),
    },
  });
  return { carryOut: async (line) => [...(await answer(line, opened)), ...told.splice(0)] };
}

async function answer(line: string, { session, model }: OpenSession): Promise<string[]> {
  if (line === "= commands")
    return session.getCommands().map(({ name, description }) => `/${name}  ${description ?? ""}`);
  if (line === "= system prompt")
    return session.systemPrompt.replace(/^[\s\S]*?\nWorking directory: .*\n\n/, "").split("\n");
  if (!line.startsWith("> ")) return [];
  const before = model.requests.length;
  await session.prompt(line.slice(2));
  return model.requests.slice(before).flatMap(({ context }) => textOf(context.messages.at(-1)?.content).split("\n"));
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text: string }[]).map(({ text }) => text).join("");
}

/** What the model says stands on the page right below the prompt that it answers. */
function reordered(lines: readonly string[]): string[] {
  const replies = lines.filter((line) => line.startsWith("model: "));
  return lines
    .filter((line) => !line.startsWith("model: "))
    .flatMap((line) => (line.startsWith("> ") ? [line, ...replies] : [line]));
}
