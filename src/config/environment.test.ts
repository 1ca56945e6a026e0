import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { keyNames } from "../provider/provider-list.js";
import { isOn, loadEnvironment, variable, wholeNumber } from "./environment.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};
const load = (env: Record<string, string | undefined>) => {
  const configRoot = join(home, ".galley");
  const places = { cwd: join(home, "work"), agentDir: join(configRoot, "agent"), configRoot, home };
  const loaded = loadEnvironment({ env, ...places });
  return { env: loaded.env, problems: loaded.problems.map((text) => text.replace(home, "~")) };
};

describe("variable", () => {
  it("reads the name, then its older spelling; empty is unset", () => {
    expect(variable({ GALLEY_SMOL_MODEL: "a", PI_SMOL_MODEL: "b" }, "GALLEY_SMOL_MODEL")).toBe("a");
    expect(variable({ GALLEY_SMOL_MODEL: " ", PI_SMOL_MODEL: " b " }, "GALLEY_SMOL_MODEL")).toBe("b");
    expect(variable({}, "GALLEY_SMOL_MODEL")).toBeUndefined();
    expect(variable({ PI_LOG: "x" }, "GALLEY_LOG")).toBeUndefined();
  });

  it.each([
    ["GALLEY_AGENT_DIR", "PI_CODING_AGENT_DIR"],
    ["GALLEY_CONFIG_DIR", "PI_CONFIG_DIR"],
    ["GALLEY_SESSION_DIR", "PI_CODING_AGENT_SESSION_DIR"],
    ["GALLEY_RPC_EMIT_TITLE", "PI_RPC_EMIT_TITLE"],
    ["GALLEY_NO_TITLE", "PI_NO_TITLE"],
    ["GALLEY_SLOW_MODEL", "PI_SLOW_MODEL"],
    ["GALLEY_PLAN_MODEL", "PI_PLAN_MODEL"],
    ["GALLEY_CACHE_RETENTION", "PI_CACHE_RETENTION"],
    ["GALLEY_OFFLINE", "PI_OFFLINE"],
    ["GALLEY_STREAM_FIRST_EVENT_TIMEOUT_MS", "PI_STREAM_FIRST_EVENT_TIMEOUT_MS"],
    ["GALLEY_STREAM_IDLE_TIMEOUT_MS", "PI_OPENAI_STREAM_IDLE_TIMEOUT_MS"],
    ["GALLEY_TASK_MAX_OUTPUT_BYTES", "PI_TASK_MAX_OUTPUT_BYTES"],
    ["GALLEY_TASK_MAX_OUTPUT_LINES", "PI_TASK_MAX_OUTPUT_LINES"],
    ["GALLEY_BLOCKED_AGENT", "PI_BLOCKED_AGENT"],
    ["GALLEY_BASH_NO_CI", "PI_BASH_NO_CI"],
    ["GALLEY_SHELL_PREFIX", "PI_SHELL_PREFIX"],
    ["GALLEY_NO_PTY", "PI_NO_PTY"],
    ["GALLEY_MAX_AST_FILES", "PI_MAX_AST_FILES"],
  ] as const)("%s is also %s", (name, alias) => expect(variable({ [alias]: "x" }, name)).toBe("x"));

  it("reads switches in every usual spelling", () => {
    for (const text of ["1", "true", "YES", " On "]) expect(isOn({ PI_OFFLINE: text }, "GALLEY_OFFLINE")).toBe(true);
    for (const text of ["0", "false", "no", "off", "", "2", "yes please"])
      expect(isOn({ PI_OFFLINE: text }, "GALLEY_OFFLINE")).toBe(false);
    expect(isOn({ GALLEY_OFFLINE: "0", PI_OFFLINE: "1" }, "GALLEY_OFFLINE")).toBe(false);
  });

  it("reads whole numbers", () => {
    const read = (text: string) =>
      wholeNumber({ GALLEY_STREAM_IDLE_TIMEOUT_MS: text }, "GALLEY_STREAM_IDLE_TIMEOUT_MS");
    expect(["0", "60000", "", "-1", "1.5", "1e3", "many", "9".repeat(20)].map(read)).toEqual([
      0,
      60_000,
      ...Array(6).fill(undefined),
    ]);
  });
});

describe("loadEnvironment", () => {
  it("is the process's own where there is no file", () => {
    expect(load({ A: "1", B: undefined })).toEqual({ env: { A: "1" }, problems: [] });
  });

  it("fills unset names from agent, root and home, in this order", () => {
    put(".env", "A=home\nB=home\nC=home\nD=home\n");
    put(".galley/.env", "A=root\nB=root\nC=root\n");
    put(".galley/agent/.env", "A=agent\nB=agent\n");
    expect(load({ A: "process" }).env).toEqual({ A: "process", B: "agent", C: "root", D: "home" });
    expect(load({ A: "" }).env.A).toBe("");
  });

  it("does not change process.env", () => {
    put(".env", "GALLEY_TEST_ENVIRONMENT=1\n");
    const before = { ...process.env };
    expect(load(process.env).env.GALLEY_TEST_ENVIRONMENT).toBe("1");
    expect({ ...process.env }).toEqual(before);
  });

  it("does not let a file move the places from which files are read", () => {
    put(".env", "GALLEY_AGENT_DIR=/x\nPI_CODING_AGENT_DIR=/x\nGALLEY_CONFIG_DIR=x\nPI_CONFIG_DIR=x\nA=1\n");
    expect(load({}).env).toEqual({ A: "1" });
    expect(load({ GALLEY_AGENT_DIR: "/y" }).env).toEqual({ GALLEY_AGENT_DIR: "/y", A: "1" });
  });

  const hostile = [
    ..."ANTHROPIC_API_KEY=project OPENAI_API_KEY=project GALLEY_SHELL_PREFIX=evil PI_SHELL_PREFIX=evil".split(" "),
    ..."HOME=/evil XDG_CONFIG_HOME=/evil PATH=/evil NODE_OPTIONS=--require=/evil LD_PRELOAD=/evil".split(" "),
    ..."DYLD_INSERT_LIBRARIES=/evil HTTPS_PROXY=http://evil https_proxy=http://evil GIT_SSH_COMMAND=evil".split(" "),
    ..."ANTHROPIC_BASE_URL=http://evil OPENAI_BASE_URL=http://evil OLLAMA_BASE_URL=http://evil OTHER=1".split(" "),
    ..."GALLEY_LOAD_PROJECT_ENV=1 GALLEY_AGENT_DIR=/evil".split(" "),
  ].join("\n");

  it("does not read the project's file, whatever it says", () => {
    put("work/.env", hostile);
    expect(load({})).toEqual({ env: {}, problems: [] });
    expect(load({ GALLEY_LOAD_PROJECT_ENV: "0" }).env).toEqual({ GALLEY_LOAD_PROJECT_ENV: "0" });
  });

  // T-2: also where the user asks for it, in the process or in a file of the user's own.
  it("takes no name from it when asked to, and says so", () => {
    const names = [...keyNames.values()].flat();
    expect(names).toContain("ANTHROPIC_OAUTH_TOKEN");
    put(
      "work/.env",
      [hostile, ...[...names, "ACME_API_KEY", "ACME_TOKEN"].map((name) => `${name}=project`)].join("\n"),
    );
    const problems = [
      "GALLEY_LOAD_PROJECT_ENV: has no effect, because a project's .env is never used; put your keys into ~/.galley/agent/.env",
    ];
    const asked = { GALLEY_LOAD_PROJECT_ENV: "1", OPENAI_API_KEY: "mine" };
    expect(load(asked)).toEqual({ env: asked, problems });
    put(".env", "GALLEY_LOAD_PROJECT_ENV=yes\nGROQ_API_KEY=home\n");
    expect(load({})).toEqual({ env: { GALLEY_LOAD_PROJECT_ENV: "yes", GROQ_API_KEY: "home" }, problems });
  });

  it("tells what it cannot use, without a value", () => {
    put(".env", "A=1\nsk-secret\n");
    mkdirSync(join(home, ".galley/.env"), { recursive: true });
    expect(load({})).toEqual({
      env: { A: "1" },
      problems: ["~/.env: line 2: expected NAME=value", "~/.galley/.env: is not a regular file"],
    });
  });
});
