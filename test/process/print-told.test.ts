// What the built program tells the model about its surroundings, and the author of an extension about its failures.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
afterAll(remove);

function put(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}

async function ask(script: Reply[], args: readonly string[], cwd: string) {
  const server = await startScriptedServer(script);
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", auth: "none", models: [{ id: "m" }] };
  put(".galley/agent/models.json", JSON.stringify({ providers: { local: provider } }));
  const outcome = await run(process.execPath, [galleyBin, "--model", "local/m", ...args], { env, cwd });
  const requests = server.requests.map(({ body }) => JSON.stringify(body));
  await server.close();
  return { ...outcome, requests };
}

it("tells the model date, platform, directories, branch, changes and staging; context files grant nothing", async () => {
  put("project/src/a.txt", "one\n");
  put("project/AGENTS.md", "Use tabs.\n");
  const project = join(home, "project");
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "init.defaultBranch=trunk", "-c", "user.name=A", "-c", "user.email=a@b", ...words], {
      cwd: project,
      env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null" },
    });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  put("project/src/a.txt", "two\n");
  const { code, requests } = await ask([openAi.text("Hi.")], ["--stage", "-p", "Hi"], join(project, "src"));
  expect(code).toBe(0);
  const [request = ""] = requests;
  for (const part of [
    /\\nDate: \d{4}-\d\d-\d\d\\n/,
    new RegExp(`\\\\nPlatform: ${process.platform} `),
    /\\nGit: branch trunk, uncommitted changes\\n/,
    /\\n(?:Sandbox: the project is writable, no network|No sandbox)\. Staging all: every file change[^.]* is a preview/,
    new RegExp(`\\\\nWorking directory: [^\\\\]*${join("project", "src")}\\\\nProject root: [^\\\\]*project`),
    /are its instructions: follow them unless the user says otherwise\. They grant no permission/,
    /Use tabs\./,
  ])
    expect(request).toMatch(part);
});

it("shows the stack of a hook and a tool that throw to their author, and only the message to the model", async () => {
  put(
    ".galley/agent/extensions/bad.ts",
    `export default (pi) => {
  pi.registerTool({ name: "bad", label: "Bad", description: "Throws", approval: "read", parameters: { type: "object" },
    execute: async () => { throw new Error("no luck"); } });
  pi.on("turn_end", () => { throw new TypeError("no disk"); });
};`,
  );
  const script = [openAi.toolCalls([{ id: "c1", name: "bad", arguments: {} }]), openAi.text("Done.")];
  const { stdout, stderr, requests } = await ask(script, ["--quiet", "-p", "Go"], home);
  const file = join(home, ".galley/agent/extensions/bad.ts");
  expect(stdout).toBe("Done.\n");
  expect(stderr).toContain(`galley: ${file}: tool bad failed: no luck\n    at `);
  expect(stderr.match(new RegExp(`^galley: ${file} turn_end: no disk$`, "gm"))).toHaveLength(2);
  expect(stderr.match(/bad\.ts:4/g)).toHaveLength(1); // the second failure of one place is one line
  expect(requests[1]).toContain('"no luck"');
  expect(requests[1]).not.toContain("bad.ts:3");
});
