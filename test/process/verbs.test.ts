// The verbs of the built program: their help, what a mistyped one is answered, and a machine without a sandbox.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verbs } from "../../src/cli/verbs.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";
import { noNamespaces } from "../kit/sandbox-rig.js";

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

const bare = noNamespaces();

describe.skipIf(!bare)(`a machine without user namespaces${bare ? "" : " (skipped: bwrap is missing)"}`, () => {
  const reason = "User namespaces are not allowed here (container or kernel setting).";
  const refusal =
    `Commands need the sandbox you asked for, and it is not available: ${reason} ` +
    "Set sandbox to off to run them with your rights.";
  const galley = (...args: string[]) =>
    run(bare?.file ?? "", [...(bare?.args ?? []), process.execPath, galleyBin, ...args], {
      ...{ env: place.env, cwd: join(place.home, "project") },
    });
  const bash = (...options: string[]) => galley("tools", "run", "bash", '{"command":"echo ran"}', ...options);

  it("X-1: lets commands run with the user's rights if the sandbox is only the default, and says so once", async () => {
    expect(await bash()).toEqual({
      code: 0,
      stdout: "ran\n",
      stderr: `galley: No sandbox: ${reason} Commands run with your rights.\n`,
    });
  });

  it.each(["workspace", "read-only"])("X-1: %s in the user's file refuses commands", async (mode) => {
    put(".galley/agent/config.yml", `sandbox: ${mode}\n`);
    expect(await bash()).toEqual({ code: 6, stdout: "", stderr: `galley: ${refusal}\n` });
    expect(await bash("--allow-exec")).toMatchObject({ code: 6 });
    expect(await bash("--set", "sandbox=off")).toMatchObject({ code: 0, stdout: "ran\n" });
    expect(await galley("tools", "run", "ls", "{}")).toMatchObject({ code: 0 });
    expect(await galley("tools", "run", "write", '{"path":"a.txt","content":"a"}')).toMatchObject({ code: 0 });
  });

  it("X-1: a project may ask for it, and may not switch it off", async () => {
    put(".galley/agent/config.yml", "sandbox: off\n");
    put("project/.galley/settings.json", '{"sandbox": "read-only"}');
    expect(await bash()).toMatchObject({ code: 6, stdout: "" });
    put(".galley/agent/config.yml", "sandbox: workspace\n");
    put("project/.galley/settings.json", '{"sandbox": "off"}');
    const { code, stderr } = await bash();
    expect(code).toBe(6);
    expect(stderr).toContain('sandbox: "off" is ignored, a project may only make this stricter');
  });

  it("V-4: refuses to stage, with exit code 6, and leaves the tree alone", async () => {
    const staged = await galley("exec", "--stage", "--", "touch", "made");
    expect(staged).toEqual({
      code: 6,
      stdout: "",
      stderr: `galley: Staging commands is not possible here: ${reason}\n`,
    });
    const refused = await bash("--stage");
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain(
      `Refused: commands bypass staging. Use --allow-exec to permit them. Staging commands is not possible here: ${reason}`,
    );
    expect(await bash("--stage", "--allow-exec")).toMatchObject({ code: 0, stdout: "ran\n" });
    expect(readdirSync(join(place.home, "project"))).toEqual([]);
  });

  it("galley doctor and get_state tell why", async () => {
    expect((await galley("doctor")).stdout).toContain(`none: ${reason}`);
    put(".galley/agent/config.yml", "sandbox: workspace\n");
    expect((await galley("doctor")).stdout).toContain(
      "workspace is asked for and not available, so commands are refused",
    );
  });
});
