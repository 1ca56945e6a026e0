import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkEnvironmentNames, childEnvironment } from "./child-environment.js";

describe("childEnvironment (K-2)", () => {
  it("passes on the allow list and nothing else", () => {
    const own = {
      PATH: "/bin",
      HOME: "/h",
      LANG: "C",
      LC_ALL: "C",
      TERM: "dumb",
      TZ: "UTC",
      USER: "u",
      SHELL: "/bin/sh",
      TMPDIR: "/t",
    };
    const secret = {
      ANTHROPIC_API_KEY: "k",
      GH_TOKEN: "t",
      SSH_AUTH_SOCK: "/s",
      NODE_OPTIONS: "--x",
      LC_SECRET: "s",
      EDITOR: "vi",
      TMPDIRS: "x",
      GALLEY_RUN: "x",
      BASH_ENV: "/x",
    };
    expect(childEnvironment({ ...own, ...secret, LANGUAGE: undefined })).toEqual(own);
  });

  it("lets the user's configuration name anything, and win", () => {
    expect(childEnvironment({ PATH: "/bin", TZ: "UTC" }, { GH_TOKEN: "t", TZ: "CET" })).toEqual({
      PATH: "/bin",
      GH_TOKEN: "t",
      TZ: "CET",
    });
  });
});

describe("checkEnvironmentNames (K-2, T-2)", () => {
  it.each(["CI", "_x", "FOO_BAR2", "GITHUB_REF", "PIPELINE", "NODES", "LDFLAGS", "HOMEPAGE", "ENVIRONMENT"])(
    "takes %s",
    (name) => expect(() => checkEnvironmentNames({ [name]: "1" })).not.toThrow(),
  );

  it.each([
    "",
    "1A",
    "A B",
    "A=B",
    "A\nB",
    "BASH_FUNC_ls%%",
    "ä",
    "A\0",
    "GALLEY_RUN",
    "PI_DIR",
    "HOME",
    "XDG_CONFIG_HOME",
    "PATH",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "HTTPS_PROXY",
    "http_proxy",
    "GIT_SSH_COMMAND",
    "OPENAI_BASE_URL",
    "MY_KEY",
    "my_token",
    "A_SECRET",
    "PASSWORD",
    "CREDENTIALS",
    "AUTHORIZATION",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
  ])("refuses %j", (name) => {
    expect(() => checkEnvironmentNames({ OK: "1", [name]: "1" })).toThrow(
      expect.objectContaining({ code: "tool_failed", message: `Invalid bash env name: ${name}` }),
    );
  });

  it("takes only names that a shell can hold", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        try {
          checkEnvironmentNames({ [name]: "1" });
        } catch {
          return true;
        }
        return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
      }),
    );
  });
});
