import { describe, expect, it } from "vitest";
import { KnownSecrets, secretsIn } from "./known-secrets.js";

const namesIn = (env: Record<string, string>) => secretsIn(env).map(({ name }) => name);

describe("variables that are named like credentials", () => {
  it("are known by their provider, or by their own name", () => {
    expect(
      namesIn({ ANTHROPIC_API_KEY: "sk-ant-1234", DB_PASSWORD: "hunter2-hunter2", npm_authToken: "npm_abcdefgh" }),
    ).toEqual(["anthropic", "DB_PASSWORD", "npm_authToken"]);
  });

  it.each([
    ["SSH_AUTH_SOCK", "tmp-agent.1234"],
    ["TLS_KEY_FILE", "server-key.pem"],
    ["TOKEN_URL", "https://example.com/token"],
    ["GIT_AUTHOR_NAME", "Jane Q. Public"],
    ["SECRETS_PLACE", "/run/secrets/app"],
    ["KEY_STORE", "~/keys/store-1"],
    ["MAX_TOKENS", "100000000"],
    ["TOKENIZERS_PARALLELISM", "false"],
    ["AUTH_PROVIDER", "kerberos"],
    ["PASSWORD", "short-1"],
    ["HOME_PAGE", "https://example.com/"],
  ])("are left out where they hold something else: %s=%s", (name, value) => {
    expect(namesIn({ [name]: value })).toEqual([]);
  });

  it.each([
    ["AUTHORIZATION", "Basic dXNlcjpwYXNz"],
    ["AUTH_PHRASE", "correcthorsebatterystaple"],
    ["AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI+K7MDENG"],
    ["API_KEY", "1234-5678-9012"],
  ])("count where they may: %s=%s", (name, value) => {
    expect(namesIn({ [name]: value })).toEqual([name]);
  });
});

describe("the secrets of a session", () => {
  it("cost nothing while there are none", () => {
    const secrets = new KnownSecrets();
    secrets.learn([{ value: "short", name: "x" }]);
    expect(secrets.isActive).toBe(false);
    const text = "a".repeat(100);
    expect(secrets.mask(text)).toBe(text);
  });

  it("grow, and a mask that was handed out knows the new ones", () => {
    const secrets = new KnownSecrets();
    const { mask } = secrets;
    secrets.learn([{ value: "first-secret", name: "A" }]);
    expect(mask("first-secret second-secret")).toBe("[secret:A] second-secret");
    secrets.learn([
      { value: " second-secret\n", name: "B" },
      { value: "first-secret", name: "C" },
    ]);
    expect(mask("first-secret second-secret")).toBe("[secret:A] [secret:B]");
    expect(secrets.isActive).toBe(true);
  });
});
