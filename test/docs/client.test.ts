// What docs/client.md and examples/hosts show is what happens: each block of code is run and its output compared with
// the block below it. A comment above a block scripts the agent; without one it is the real program.

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, transformSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accepted, type FakeScript, fakeAgent, said } from "../kit/client-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const page = readFileSync(join(projectRoot, "docs/client.md"), "utf8");
const hosts = join(projectRoot, "examples/hosts");
const block = /(?:<!-- agent: ([^\n]*) -->\n\n)?```(ts|python)\n(.*?)```\n\n```text\n(.*?)```/gs;
const examples = [...page.matchAll(block)].map(([, agent, language = "", code = "", output = ""], index) => ({
  title: `${index + 1} (${language})`,
  agent: agent === undefined ? undefined : (JSON.parse(agent) as FakeScript),
  language,
  code,
  output,
}));

const { home, env, remove } = emptyHome();
const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const hasBun = spawnSync("bun", ["--version"]).status === 0;

beforeAll(async () => {
  await ensureBuilt();
  const door = join(home, "node_modules/galley");
  mkdirSync(door, { recursive: true });
  writeFileSync(
    join(door, "package.json"),
    '{"type":"module","exports":{"./client":"./client.js","./package.json":"./package.json"}}',
  );
  const entry = join(projectRoot, "src/client/index.ts");
  await build({
    entryPoints: [entry],
    outfile: join(door, "client.js"),
    bundle: true,
    platform: "node",
    format: "esm",
  });
  writeFileSync(join(home, "notes.txt"), "Buy ink.\n");
}, 150_000);
afterAll(remove);

/** A PATH whose first `galley` is the real program, or an agent that follows the script. */
function pathWith(script: FakeScript | undefined): string {
  const directory = temporaryDirectory();
  const galley = join(directory, "galley");
  if (script === undefined) symlinkSync(galleyBin, galley);
  else {
    const quoted = `'${JSON.stringify(script).replaceAll("'", "'\\''")}'`;
    writeFileSync(galley, `#!/bin/sh\nexec "${process.execPath}" "${fakeAgent}" ${quoted} "$@"\n`);
    chmodSync(galley, 0o755);
  }
  return `${directory}:${env.PATH}`;
}

function execute(program: string, args: string[], script: FakeScript | undefined, input = "") {
  const PYTHONPATH = join(projectRoot, "clients/python");
  const more = { PATH: pathWith(script), PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
  return run(program, args, { env: { ...env, ...more }, cwd: home, input });
}

describe("docs/client.md", () => {
  it("has nothing but examples that are run", () => {
    expect(examples.length).toBeGreaterThan(8);
    expect(page.match(/```(ts|python)$/gm)).toHaveLength(examples.length);
    expect(page.match(/<!-- agent:/g)).toHaveLength(examples.filter(({ agent }) => agent).length);
  });

  it.for(examples)("example $title", async ({ agent, language, code, output }, { skip }) => {
    skip(language === "python" && !hasPython, "there is no python3");
    const file = join(home, language === "python" ? "example.py" : "example.mjs");
    writeFileSync(file, language === "python" ? code : transformSync(code, { loader: "ts" }).code);
    const program = language === "python" ? "python3" : process.execPath;
    expect(await execute(program, [file], agent)).toEqual({ code: 0, stdout: output, stderr: "" });
  });
});

it.skipIf(!hasBun)("the client works in Bun (skipped without it)", async () => {
  writeFileSync(join(home, "bun.mjs"), examples[0]?.code ?? "");
  const { code, stdout } = await execute("bun", ["bun.mjs"], undefined);
  expect({ code, stdout }).toEqual({ code: 0, stdout: examples[0]?.output });
});

/** A copy of host.mjs beside a package whose program follows the script. */
function hostOf(script: FakeScript): string {
  mkdirSync(join(home, "node_modules/galley/bin"), { recursive: true });
  const program = `process.argv.splice(2, 0, ${JSON.stringify(JSON.stringify(script))});\nawait import(${JSON.stringify(fakeAgent)});\n`;
  writeFileSync(join(home, "node_modules/galley/bin/galley.js"), program);
  const host = join(home, "host.mjs");
  copyFileSync(join(hosts, "host.mjs"), host);
  return host;
}

const start = { type: "agent_start" };
const settled = { type: "agent_settled" };

describe("examples/hosts", () => {
  it("host.mjs answers prompts with plain node, and its agent may crash", async () => {
    const host = join(hosts, "host.mjs");
    const { code, stdout, stderr } = await execute(process.execPath, [host], undefined, "show notes.txt\n\n");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain('[read] {"path":"notes.txt"}');
    expect(stdout).toContain("Buy ink.");
    const state = { id: "$id", type: "response", command: "get_state", success: true, data: { isStreaming: false } };
    const crash: FakeScript = {
      rules: [
        { on: "prompt", do: [{ $stderr: "out of paper\n" }, { $exit: 9 }] },
        { on: "get_state", do: [state] },
      ],
    };
    const crashed = await execute(process.execPath, [hostOf(crash)], undefined, "x\n\n");
    expect(crashed.stdout).toContain("The agent ended. out of paper");
    expect(crashed.stdout).toContain("(exited) The agent ended with code 9");
    expect(crashed.stdout).toContain("It is back.");
    expect([crashed.code, crashed.stderr]).toEqual([0, ""]);
  });

  it("host.py lends its tool, and asks before it agrees", async ({ skip }) => {
    skip(!hasPython, "there is no python3");
    const call = { type: "host_tool_call", id: "h", toolCallId: "c", toolName: "ticket", arguments: { number: 7 } };
    const ask = { type: "extension_ui_request", id: "u", method: "confirm", title: "Close it?", message: "ticket 7" };
    const ends = [{ type: "agent_end", messages: [], isTerminal: true }, settled];
    const script: FakeScript = {
      rules: [
        { on: "prompt", do: [accepted, start, call] },
        { on: "host_tool_result", do: [ask] },
        { on: "extension_ui_response", where: { confirmed: true }, do: [said("Closed."), ...ends] },
        {
          on: "extension_ui_response",
          where: { confirmed: false },
          do: [said("Left.", { stopReason: "aborted" }), ...ends],
        },
      ],
    };
    const file = join(hosts, "host.py");
    expect(await execute("python3", [file, "Close", "it"], script, "y\n")).toEqual({
      code: 0,
      stdout: "\nClose it?: ticket 7 [y/N] \n",
      stderr: "",
    });
    expect(await execute("python3", [file], script, "\n")).toMatchObject({ code: 1, stderr: "aborted: \n" });
  });

  it("one-liner.sh shows the frames of one prompt and ends", async () => {
    const { code, stdout } = await execute("bash", [join(hosts, "one-liner.sh"), 'show "notes.txt"'], undefined);
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(code).toBe(0);
    expect([types[0], types.at(-1)]).toEqual(["ready", "agent_settled"]);
    const refused = { rules: [{ on: "prompt", do: [accepted, { type: "response", success: false, error: "busy" }] }] };
    expect((await execute("bash", [join(hosts, "one-liner.sh"), "x"], refused)).stdout).toMatch(/"error":"busy"}\n$/);
  });
});
