// The verbs of the built program: their help, what a mistyped one is answered, and the sandbox that is not there.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verbs } from "../../src/cli/verbs.js";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
  mkdirSync(join(place.home, "project"));
});
afterEach(() => place.remove());

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};
const galley = (...args: string[]) =>
  run(process.execPath, [galleyBin, ...args], { env: place.env, cwd: join(place.home, "project") });

describe("help", () => {
  it.each(verbs.map(({ name }) => name))(
    "galley %s --help, -h and galley help: one form, exit code 0",
    async (name) => {
      const help = await galley(name, "--help");
      expect(help).toMatchObject({ code: 0, stderr: "" });
      expect(help.stdout).toMatch(new RegExp(`^galley ${name}: .+\\n\\nUsage\\n  galley ${name}`));
      expect(await galley("help", name)).toEqual(help);
    },
  );

  it("galley help is galley --help, and names every verb", async () => {
    const help = await galley("help");
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(await galley("--help")).toEqual(help);
    for (const { name, help: sentence } of verbs)
      expect(help.stdout).toMatch(
        new RegExp(`^  galley ${name}\\b.*(\\n +)?.*${sentence.replace(/[[\]().]/g, "\\$&")}$`, "m"),
      );
  });

  it("what follows -- asks for no help", async () => {
    expect(await galley("config", "get", "--", "--help")).toMatchObject({ code: 2, stdout: "" });
  });

  it.each([
    [["help", "confg"], "Unknown command confg. Did you mean config?"],
    [["help", "config", "set"], "galley help takes one verb."],
    [["config", "lst"], "Unknown command galley config lst. Did you mean list?"],
    [["config"], "galley config needs one of: get, set, unset, list, paths."],
    [["sessions", "lsit"], "Unknown command galley sessions lsit."],
    [["sessions", "gcc"], "Unknown command galley sessions gcc. Did you mean gc?"],
    [["sessions", "list", "--al"], "Unknown option --al. Did you mean --all?"],
    [["tools", "chek", "x"], "Unknown command galley tools chek. Did you mean check?"],
    [["tools", "list", "--jso"], "Unknown option --jso. Did you mean --json?"],
    [["tools", "new"], "galley tools new takes one name."],
    [["trust", "--revok"], "Unknown option --revok. Did you mean --revoke?"],
    [["completion", "bsh"], "Unknown command galley completion bsh. Did you mean bash?"],
    [["doctor", "--jsn"], "Unknown option --jsn. Did you mean --json?"],
  ])("galley %j says what is wrong, with exit code 2", async (words, text) => {
    const { code, stdout, stderr } = await galley(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.split("\n")[0]).toBe(text);
  });
});

describe("a sandbox that was asked for", () => {
  const refusal =
    "Commands need the sandbox you asked for, and it is not available: This version has no sandbox. " +
    "Set sandbox to off to run them with your rights.";
  const bash = (...options: string[]) => galley("tools", "run", "bash", '{"command":"echo ran"}', ...options);

  it("is not the default: commands run", async () => {
    expect(await bash()).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  it.each(["workspace", "read-only"])("%s in the user's file refuses commands", async (mode) => {
    put(".galley/agent/config.yml", `sandbox: ${mode}\n`);
    expect(await bash()).toEqual({ code: 6, stdout: "", stderr: `galley: ${refusal}\n` });
    expect(await bash("--allow-exec")).toMatchObject({ code: 6 });
    expect(await bash("--set", "sandbox=off")).toMatchObject({ code: 0, stdout: "ran\n" });
    expect(await galley("tools", "run", "ls", "{}")).toMatchObject({ code: 0 });
    expect(await galley("tools", "run", "write", '{"path":"a.txt","content":"a"}')).toMatchObject({ code: 0 });
  });

  it("a project may ask for it, and may not switch it off", async () => {
    put(".galley/agent/config.yml", "sandbox: off\n");
    put("project/.galley/settings.json", '{"sandbox": "read-only"}');
    expect(await bash()).toMatchObject({ code: 6, stdout: "" });
    put(".galley/agent/config.yml", "sandbox: workspace\n");
    put("project/.galley/settings.json", '{"sandbox": "off"}');
    const { code, stderr } = await bash();
    expect(code).toBe(6);
    expect(stderr).toContain('sandbox: "off" is ignored, a project may only make this stricter');
  });

  it("refuses a custom tool that declares nothing, and lets one run that only reads", async () => {
    const tool = (name: string, approval: string) => `export default (pi) => ({
      name: "${name}", description: "Says ran", parameters: pi.zod.object({}), ${approval}
      execute: async () => ({ content: [{ type: "text", text: "ran" }] }),
    });`;
    put(".galley/agent/config.yml", "sandbox: workspace\n");
    put(".galley/agent/tools/any.ts", tool("any", ""));
    put(".galley/agent/tools/reads.ts", tool("reads", 'approval: "read",'));
    expect(await galley("tools", "run", "any", "{}")).toMatchObject({ code: 6, stdout: "" });
    expect(await galley("tools", "run", "reads", "{}")).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  it("refuses a host's bash command over RPC", async () => {
    const host = new RpcHost({ args: ["--set", "sandbox=workspace"] });
    try {
      host.send({ id: "b", type: "bash", command: "echo ran" });
      expect(await host.waitForResponse("b")).toMatchObject({ success: false, error: refusal });
      host.send({ id: "s", type: "get_state" });
      expect((await host.waitForResponse("s")).data).toMatchObject({
        sandbox: {
          mode: "workspace",
          mechanism: "none",
          reason: "This version has no sandbox. Commands are refused.",
        },
      });
    } finally {
      await host.dispose();
    }
  });
});

it("a setting without effect is one warning on stderr, never on RPC's stdout", async () => {
  put(".galley/agent/config.yml", "async: {enabled: true}\ncycleOrder: [a]\n");
  const { stderr } = await galley("-p", "help");
  expect(stderr.match(/async\.enabled: has no effect in this version/g)).toHaveLength(1);
  expect(stderr.match(/cycleOrder: has no effect in this version/g)).toHaveLength(1);
  const rpc = await run(process.execPath, [galleyBin, "--mode", "rpc"], {
    env: place.env,
    cwd: join(place.home, "project"),
    input: '{"id":"1","type":"get_state"}\n',
  });
  expect(rpc.stderr).toContain("async.enabled: has no effect in this version");
  for (const line of rpc.stdout.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
  expect(rpc.stdout).not.toContain("async");
});
