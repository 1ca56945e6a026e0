import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { settingKeys } from "../../config/settings/schema.js";
import { type ConfigCommandOptions, runConfig } from "./config-command.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "repo/.git"), { recursive: true });
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};
const user = ".galley/agent/config.yml";
const project = "repo/.galley/settings.json";
const read = (path: string) => readFileSync(join(home, path), "utf8");

async function galleyConfig(words: string, options: Partial<ConfigCommandOptions> = {}) {
  let out = "";
  let err = "";
  const code = await runConfig(words.split(" "), {
    cwd: join(home, "repo"),
    env: {},
    home,
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    ...options,
  });
  return { code, out: out.replaceAll(home, "~"), err: err.replaceAll(home, "~") };
}

describe("galley config get", () => {
  it("prints the value as it is here", async () => {
    put(user, "retry: {maxRetries: 5}\nmodelRoles: {smol: acme/small}\nshellPath: /bin/sh\n");
    put(project, '{"retry.maxRetries":2}');
    expect(await galleyConfig("get retry.maxRetries")).toEqual({ code: 0, out: "2\n", err: "" });
    expect((await galleyConfig("get shellPath")).out).toBe("/bin/sh\n");
    expect((await galleyConfig("get shellPath --json")).out).toBe('"/bin/sh"\n');
    expect((await galleyConfig("get modelRoles")).out).toBe('{"smol":"acme/small"}\n');
    expect((await galleyConfig("get modelRoles.smol")).out).toBe("acme/small\n");
    expect((await galleyConfig("get modelRoles.slow")).out).toBe("\n");
    expect((await galleyConfig("get sessionDir --json")).out).toBe("null\n");
    expect((await galleyConfig("get secrets.paths")).out).toBe('[".env*","*.pem","id_*"]\n');
  });

  it("tells an unknown setting and exits 2", async () => {
    expect(await galleyConfig("get stearingMode")).toEqual({
      code: 2,
      out: "",
      err: 'Unknown setting "stearingMode", did you mean steeringMode?\n',
    });
    expect(await galleyConfig("get cycleOrder")).toMatchObject({
      code: 2,
      err: "cycleOrder has no effect in this version.\n",
    });
    expect((await galleyConfig("get queueMode")).err).toBe("queueMode is an old name, use steeringMode.\n");
  });

  it("warns of what is wrong in the files and still answers", async () => {
    put(user, "steeringMode: bogus\n");
    expect(await galleyConfig("get steeringMode")).toEqual({
      code: 0,
      out: "one-at-a-time\n",
      err: `galley: ~/${user}: steeringMode: "bogus" is ignored, expected one of all, one-at-a-time\n`,
    });
  });

  it("reads the agent directory that the environment names", async () => {
    put("other/config.yml", "topK: 4\n");
    expect((await galleyConfig("get topK", { env: { PI_CODING_AGENT_DIR: join(home, "other") } })).out).toBe("4\n");
  });
});

describe("galley config set", () => {
  it("changes the user's file", async () => {
    put(user, "# mine\ntopK: 1 # one\n");
    expect(await galleyConfig("set topK 2")).toEqual({ code: 0, out: `topK = 2 in ~/${user}\n`, err: "" });
    expect(read(user)).toBe("# mine\ntopK: 2 # one\n");
    expect((await galleyConfig("set topK -1 --json")).out).toBe(`{"key":"topK","value":-1,"file":"~/${user}"}\n`);
    expect((await galleyConfig("set modelRoles.smol a/b")).out).toBe(`modelRoles.smol = "a/b" in ~/${user}\n`);
    expect(read(user)).toBe("# mine\ntopK: -1 # one\nmodelRoles:\n  smol: a/b\n");
  });

  it("does not repeat what may be a secret", async () => {
    const { out } = await galleyConfig("set bash.environment.TOKEN sk-secret");
    expect(out).toBe(`bash.environment.TOKEN = "***" in ~/${user}\n`);
    expect((await galleyConfig("get bash.environment.TOKEN")).out).toBe("sk-secret\n");
  });

  it("takes what follows -- as it is", async () => {
    expect((await galleyConfig("set shellPath -- --json")).out).toBe(`shellPath = "--json" in ~/${user}\n`);
  });

  it("says when the project's file wins", async () => {
    put(project, '{"topK":9}');
    expect(await galleyConfig("set topK 2")).toMatchObject({
      code: 0,
      err: "The project's settings file also sets it, and wins here.\n",
    });
    expect(read(project)).toBe('{"topK":9}');
  });

  it("exits 2 and writes nothing for a wrong name or value", async () => {
    expect(await galleyConfig("set topK many")).toEqual({
      code: 2,
      out: "",
      err: 'topK must be a whole number from -1 to 100000, not "many".\n',
    });
    expect((await galleyConfig("set statusLine dark")).code).toBe(2);
    expect(existsSync(join(home, user))).toBe(false);
  });

  it("exits 3 and leaves a broken file as it is, byte for byte", async () => {
    const broken = "topK: 1\nkey: sk-secret: x\n";
    put(user, broken);
    expect(await galleyConfig("set topK 2")).toEqual({
      code: 3,
      out: "",
      err:
        `Refusing to write ~/${user}: it cannot be parsed ` +
        "(not valid YAML at line 2, column 6 (block as implicit key)). Fix it first.\n",
    });
    expect(read(user)).toBe(broken);
  });
});

describe("galley config unset", () => {
  it("removes the setting from the user's file, and says what holds now", async () => {
    put(user, "# mine\ntopK: 1 # one\nretry:\n  maxRetries: 5\n# end\n");
    expect(await galleyConfig("unset topK")).toEqual({
      code: 0,
      out: `Removed topK from ~/${user}\ntopK is now -1 (default)\n`,
      err: "",
    });
    expect(read(user)).toBe("# mine\nretry:\n  maxRetries: 5\n# end\n");
    put(project, '{"retry.maxRetries":2}');
    expect((await galleyConfig("unset retry.maxRetries --json")).out).toBe(
      `{"key":"retry.maxRetries","wasSet":true,"file":"~/${user}","value":2,"source":"project"}\n`,
    );
    expect(read(user)).toBe("# mine\n# end\n");
  });

  it("says when there is nothing to remove, and changes nothing", async () => {
    put(user, "topK: 1\n");
    expect(await galleyConfig("unset topP")).toEqual({
      code: 0,
      out: `topP is not set in ~/${user}\ntopP is now -1 (default)\n`,
      err: "",
    });
    expect(read(user)).toBe("topK: 1\n");
  });

  it("also removes old names, and settings that this version does not obey", async () => {
    put(user, "queueMode: all\ncycleOrder: [a]\ntask: {eager: false}\n");
    expect((await galleyConfig("unset steeringMode")).out).toContain('steeringMode is now "one-at-a-time" (default)');
    expect((await galleyConfig("unset cycleOrder")).out).toBe(`Removed cycleOrder from ~/${user}\n`);
    expect(await galleyConfig("unset task.eager")).toMatchObject({ code: 0, err: "" });
    expect(read(user)).toBe("");
  });

  it("exits 2 for an unknown setting, 3 for a file that it cannot understand", async () => {
    expect(await galleyConfig("unset topKK")).toMatchObject({
      code: 2,
      err: 'Unknown setting "topKK", did you mean topK?\n',
    });
    put(user, "topK: 1\nkey: sk-secret: x\n");
    expect(await galleyConfig("unset topK")).toMatchObject({ code: 3 });
    expect(read(user)).toBe("topK: 1\nkey: sk-secret: x\n");
  });
});

describe("galley config list", () => {
  it("names every setting, its value, where that comes from and what it does", async () => {
    put(user, "topK: 4\nbash: {environment: {TOKEN: sk-secret}}\ncompaction.remoteEndpoint: https://u:pw@x\n");
    put(project, '{"topP":0.5}');
    const { code, out, err } = await galleyConfig("list");
    expect(code).toBe(0);
    expect(err).toBe(`galley: ~/${user}: compaction.remoteEndpoint: has no effect in this version\n`);
    const lines = out.trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual([`# user: ~/${user}`, `# project: ~/${project}`]);
    expect(lines.slice(2).map((line) => line.split(":", 1)[0])).toEqual(settingKeys);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^topK: 4 {2}# user\. \w/),
        expect.stringMatching(/^topP: 0\.5 {2}# project\. \w/),
        'steeringMode: "one-at-a-time"  # default. How many queued steering messages one model call receives.',
        "shellPath:  # default. The shell for commands; default: bash, or sh.",
        expect.stringMatching(/^bash\.environment: \{"TOKEN":"\*\*\*"\} {2}# user\. /),
      ]),
    );
    for (const line of lines.slice(2)) expect(line).toMatch(/ {2}# (?:default|user|project)\. .*\.$/);
    const json = JSON.parse((await galleyConfig("list --json")).out);
    expect(json.topK).toMatchObject({ value: 4, source: "user", help: expect.stringContaining("tokens") });
    expect(json.shellPath).toMatchObject({ value: null, source: "default" });
    expect(Object.keys(json)).toEqual(settingKeys);
    expect(JSON.stringify(json)).not.toContain("sk-secret");
  });
});

describe("galley config paths", () => {
  it("shows what was found, from where, and what is hidden", async () => {
    put(user, "topK: 4\ndisabledProviders: [codex]\n");
    put("repo/.galley/rules/a.md", "");
    put(".claude/rules/a.md", "");
    put(".codex/rules/a.md", "");
    put("repo/.pi", "");
    expect(await galleyConfig("paths")).toEqual({
      code: 0,
      err: "",
      out: [
        "Settings files",
        `  user     ~/${user}  (used)`,
        `  project  ~/${project}  (not there)`,
        "Configuration directories, the first one wins",
        "  100  native  project  ~/repo/.galley",
        "  100  native  user     ~/.galley/agent",
        "  80   claude  user     ~/.claude",
        "  left out: ~/repo/.pi: is not a directory",
        "Rules",
        "  ~/repo/.galley/rules/a.md",
        "  ~/.claude/rules/a.md  (hidden by ~/repo/.galley/rules/a.md)",
        "",
      ].join("\n"),
    });
  });

  it("tells a broken file and a hidden one", async () => {
    put(user, "- a\n");
    put(project, "{}");
    put("repo/sub/.galley/settings.json", "{}");
    const { out } = await galleyConfig("paths --json", { cwd: join(home, "repo/sub") });
    expect(JSON.parse(out).settings).toEqual([
      { level: "user", path: `~/${user}`, state: "broken" },
      { level: "project", path: "~/repo/sub/.galley/settings.json", state: "used" },
      { level: "project", path: `~/${project}`, state: "hidden by a nearer one" },
    ]);
  });

  it("shows names that could garble a terminal without their power", async () => {
    put("repo/.galley/rules/\u001b[31mred.md", "");
    expect((await galleyConfig("paths")).out).toContain("~/repo/.galley/rules/red.md");
  });
});

describe("galley config", () => {
  it.each([
    ["get", "galley config get takes one setting."],
    ["set topK", "galley config set takes a setting and its value."],
    ["set topK 1 2", "galley config set takes a setting and its value."],
    ["list all", "galley config list takes no names."],
    ["lst", "Unknown command galley config lst. Did you mean list?"],
    ["frobnicate", "Unknown command galley config frobnicate."],
    ["__proto__", "Unknown command galley config __proto__."],
  ])("says what is wrong with %j, and shows its usage", async (words, problem) => {
    const { code, out, err } = await galleyConfig(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/Usage\n {2}galley config get KEY/);
    expect(err.split("\n")[0]).toBe(problem);
  });
});
